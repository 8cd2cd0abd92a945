package import AppStoreModel
import SignedData

/// The signed transactions of a simulated world, without a server, for benchmarks.
///
/// It generates one customer at a time, so its memory does not grow with the world.
package struct SignedTransactions: Sendable {
    package let bundleId: String
    package let appAppleId: Int64?
    package let environment: AppStoreEnvironment
    /// The root certificate to trust, in DER.
    package let trustedRoot: [UInt8]
    private let app: SimulatedApp
    private let parameters: WorldParameters
    private let sizes: [Int]
    private let issuer: JWSIssuer

    /// - Parameters:
    ///   - seed: The same seed gives the same payloads. Keys and signatures are new each time.
    ///   - customers: At least 1.
    ///   - transactionsPerCustomer: The mean, 1 to 200.
    ///   - anchor: The moment of the world: all purchases are before it.
    /// - Throws: ``SignedData/CertificateError``.
    package init(
        seed: UInt64,
        customers: Int,
        transactionsPerCustomer: Int,
        anchor: UnixMilliseconds
    ) throws {
        parameters = WorldParameters(
            seed: seed,
            customers: customers,
            transactionsPerCustomer: transactionsPerCustomer,
            environment: .production,
            anchor: anchor
        )
        app = SimulatedApp(environment: parameters.environment, seed: seed)
        sizes = HistorySizes(mean: transactionsPerCustomer).sizes(customers: customers, seed: seed)
        let authority = try Self.authority(from: anchor - .days(400), to: anchor + .days(400))
        issuer = authority.issuer
        trustedRoot = authority.root.der
        bundleId = app.bundleId
        appAppleId = app.appAppleId
        environment = app.environment
    }

    /// Certificates padded to the size of Apple's, whose JWS headers have 4,400 bytes.
    private static func authority(
        from notBefore: UnixMilliseconds,
        to notAfter: UnixMilliseconds
    ) throws -> CertificateAuthority {
        var intermediate = CertificateShape.intermediate(from: notBefore, to: notAfter)
        var leaf = CertificateShape.leaf(from: notBefore, to: notAfter)
        // The padding is Netscape's comment extension (an IA5String), which is not critical and which verifiers ignore.
        let comment = [UInt8(0x16), 0x81, 0xE6] + [UInt8](repeating: UInt8(ascii: "-"), count: 230)
        intermediate.extensions.append(.init("2.16.840.1.113730.1.13", value: comment))
        leaf.extensions.append(.init("2.16.840.1.113730.1.13", value: comment))
        return try CertificateAuthority(
            root: .root(from: notBefore, to: notAfter),
            intermediate: intermediate,
            leaf: leaf
        )
    }

    /// The number of customers.
    package var customerCount: Int { sizes.count }

    /// The number of transactions of all customers.
    package var count: Int { sizes.reduce(0, +) }

    /// The JWS of each transaction of one customer.
    ///
    /// - `signedDate`: The moment of the answer; `nil` means the moment of the world.
    package func ofCustomer(_ index: Int, signedDate: UnixMilliseconds? = nil) throws -> [String] {
        var builder = CustomerBuilder(index: index, parameters: parameters)
        builder.fill(to: sizes[index])
        let customer = builder.customer
        return try customer.transactions.map { transaction in
            try issuer.sign(
                payload: transaction.payload(
                    of: customer.identity,
                    in: app,
                    signedDate: (signedDate ?? parameters.anchor).rawValue,
                    bundleId: app.bundleId
                )
            )
        }
    }
}
