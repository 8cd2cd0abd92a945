package import AppStoreModel
import SignedData

/// The transactions of a simulated world, signed as the App Store signs them, without a server around them.
///
/// For measurements: one customer is made at a time, so a world of any size takes no memory.
package struct SignedTransactions: Sendable {
    package let bundleId: String
    package let appAppleId: Int64?
    package let environment: AppStoreEnvironment
    /// DER of the authority to trust.
    package let trustedRoot: [UInt8]
    private let app: SimulatedApp
    private let parameters: WorldParameters
    private let sizes: [Int]
    private let issuer: JWSIssuer

    /// - Parameters:
    ///   - seed: The same seed makes the same payloads; keys and signatures are new each time.
    ///   - customers: At least 1.
    ///   - transactionsPerCustomer: On average, 1 to 200.
    ///   - anchor: The moment of the world: everything in it happened before.
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

    /// Certificates as long as Apple's, whose header texts have 4,400 bytes; ours say less.
    private static func authority(
        from notBefore: UnixMilliseconds,
        to notAfter: UnixMilliseconds
    ) throws -> CertificateAuthority {
        var intermediate = CertificateShape.intermediate(from: notBefore, to: notAfter)
        var leaf = CertificateShape.leaf(from: notBefore, to: notAfter)
        // A comment of Netscape's, IA5String: nobody reads it, and it is not critical.
        let comment = [UInt8(0x16), 0x81, 0xE6] + [UInt8](repeating: UInt8(ascii: "-"), count: 230)
        intermediate.extensions.append(.init("2.16.840.1.113730.1.13", value: comment))
        leaf.extensions.append(.init("2.16.840.1.113730.1.13", value: comment))
        return try CertificateAuthority(
            root: .root(from: notBefore, to: notAfter),
            intermediate: intermediate,
            leaf: leaf
        )
    }

    /// How many customers there are.
    package var customerCount: Int { sizes.count }

    /// How many transactions all customers have together.
    package var count: Int { sizes.reduce(0, +) }

    /// The JWS of each transaction of one customer, as an answer signs them.
    ///
    /// - `signedDate`: The moment of the answer; the world's own unless given.
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
