import SignedData

/// Signs payloads and leaves out the header, which is the same for all and a third of every record.
struct Sealer: Sendable {
    private let issuer: JWSIssuer
    /// The first segment and the dot behind it.
    let opening: [UInt8]

    /// Bytes of a signature in a JWS: 64 bytes in base64url.
    static let signatureLength = 86

    init(issuer: JWSIssuer) {
        self.issuer = issuer
        opening = Array(issuer.headerSegment.utf8) + [UInt8(ascii: ".")]
    }

    /// Payload and signature: what follows ``opening``.
    func seal(_ payload: [UInt8]) throws -> [UInt8] {
        Array(try issuer.sign(payload: payload).utf8.dropFirst(opening.count))
    }

    /// The same for a signature that was made before, as it stands in the JWS.
    func seal(_ payload: [UInt8], with signature: ArraySlice<UInt8>) -> [UInt8] {
        var sealed = Base64.encodeURL(payload)
        sealed.append(UInt8(ascii: "."))
        sealed += signature
        return sealed
    }

    func jws(_ payload: [UInt8]) throws -> String {
        try issuer.sign(payload: payload)
    }
}
