package import AppStoreModel
import Hashing
package import StrictJSON

/// A payload that passed all checks; only ``JWSVerifier`` creates one.
package struct VerifiedPayload: Sendable {
    /// The text of the first segment, base64url.
    ///
    /// ``parts``, which also has the payload and the signature, can be verified again.
    package let header: [UInt8]
    /// The payload's bytes, decoded.
    package let payload: [UInt8]
    /// The 64 bytes r‖s.
    ///
    /// They do not identify a record: one payload can have many valid signatures.
    package let signature: [UInt8]
    package let payloadSHA256: [UInt8]
    /// The payload as JSON; always an object.
    package let json: JSONElement
    /// `signedDate`, or `receiptCreationDate` when the payload has no `signedDate` (AppTransaction).
    package let signedDate: UnixMilliseconds
    /// Whether the date had a fraction or exponent and was rounded down to a millisecond.
    package let signedDateWasInexact: Bool
    /// Whether the JWS contains another root than the trusted one of its chain; counted, not rejected.
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

    package var parts: JWSParts { JWSParts(header: header, payload: payload, signature: signature) }
}
