import SignedData

/// Signs payloads and leaves out the header, which is the same for all and a third of every record.
struct Sealer: Sendable {
    private let issuer: JWSIssuer
    /// The first segment and the dot behind it.
    let opening: [UInt8]

    init(issuer: JWSIssuer) {
        self.issuer = issuer
        opening = Array(issuer.headerSegment.utf8) + [UInt8(ascii: ".")]
    }

    /// Payload and signature: what follows ``opening``.
    func seal(_ payload: [UInt8]) throws -> [UInt8] {
        Array(try issuer.sign(payload: payload).utf8.dropFirst(opening.count))
    }

    func jws(_ payload: [UInt8]) throws -> String {
        try issuer.sign(payload: payload)
    }
}
