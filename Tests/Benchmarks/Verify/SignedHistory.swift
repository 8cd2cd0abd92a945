import AppStoreModel
import AppStoreSimulator
import Normalize
import SignedData

/// Transactions of a simulated App Store, signed at start, and everything that reads them.
struct SignedHistory {
    static let now = UnixMilliseconds(rawValue: 1_780_000_000_000)
    /// As many as Apple sends.
    private static let pageSize = 20

    let payloads: [[UInt8]]
    let jws: [String]
    let pages: [Page]
    let verifier: JWSVerifier
    let recordVerifier: RecordVerifier
    /// What all of them are signed with.
    let key: SigningKey

    /// Makes about ten transactions for each customer, of every kind of purchase the simulator knows.
    init(customers: Int) throws {
        let authority = try Self.authority()
        payloads = SimulatedPayloads.transactions(seed: 1, customers: customers, signedDate: Self.now - .seconds(60))
        let issuer = authority.issuer
        jws = try payloads.map { try issuer.sign(payload: $0) }
        pages = stride(from: 0, to: jws.count, by: Self.pageSize).map { [jws] start in
            let records = jws[start..<min(start + Self.pageSize, jws.count)].map { PageRecord.transaction(jws: $0) }
            return Page(records: records, cursor: nil, hasMore: true)
        }
        verifier = try JWSVerifier(trustedRoots: [authority.root.der])
        recordVerifier = RecordVerifier(
            bundleId: SimulatedPayloads.bundleId,
            environment: .production,
            appAppleId: SimulatedPayloads.appAppleId,
            verifier: verifier
        )
        key = try SigningKey.generate()
    }

    /// Certificates as long as Apple's, whose header texts have 4,400 bytes; ours say less.
    static func authority() throws -> CertificateAuthority {
        var shapes = (
            root: CertificateShape.root(from: now - .seconds(864_000), to: now + .seconds(864_000)),
            intermediate: CertificateShape.intermediate(from: now - .seconds(864_000), to: now + .seconds(864_000)),
            leaf: CertificateShape.leaf(from: now - .seconds(864_000), to: now + .seconds(864_000))
        )
        // A Netscape comment, IA5String: no verifier reads it, and it is not critical.
        let comment = [UInt8(0x16), 0x81, 0xE6] + [UInt8](repeating: UInt8(ascii: "-"), count: 230)
        shapes.intermediate.extensions.append(.init("2.16.840.1.113730.1.13", value: comment))
        shapes.leaf.extensions.append(.init("2.16.840.1.113730.1.13", value: comment))
        return try CertificateAuthority(root: shapes.root, intermediate: shapes.intermediate, leaf: shapes.leaf)
    }
}
