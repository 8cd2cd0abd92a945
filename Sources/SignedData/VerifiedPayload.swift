package import AppStoreModel
package import StrictJSON

/// What Apple signed, after every check; only ``JWSVerifier`` makes one.
package struct VerifiedPayload: Sendable {
    /// The first segment's text as it came, base64url; with the two below, enough to verify again: ``parts``.
    package let header: [UInt8]
    /// The payload's bytes, decoded.
    package let payload: [UInt8]
    /// The 64 bytes r‖s, never an identity: one payload has many valid signatures.
    package let signature: [UInt8]
    package let payloadSHA256: [UInt8]
    /// An object.
    package let json: JSONElement
    /// `signedDate`, or `receiptCreationDate` where the payload has no `signedDate` (AppTransaction).
    package let signedDate: UnixMilliseconds
    /// The date was written with a fraction or exponent and has been rounded down to a millisecond.
    package let signedDateWasInexact: Bool
    /// The token brought another root than the trusted one that its chain ends in; worth counting, not refusing.
    package let rootDiffers: Bool

    init(
        header: [UInt8],
        payload: [UInt8],
        signature: [UInt8],
        json: JSONElement,
        signedDate: SignedDate,
        rootDiffers: Bool
    ) {
        self.header = header
        self.payload = payload
        self.signature = signature
        payloadSHA256 = SHA256.digest(of: payload)
        self.json = json
        self.signedDate = signedDate.moment
        signedDateWasInexact = signedDate.wasInexact
        self.rootDiffers = rootDiffers
    }

    /// The record that it came in.
    package var parts: JWSParts { JWSParts(header: header, payload: payload, signature: signature) }
}
