package import AppStoreModel
package import Basics
import Hashing

/// Creates the older signatures of promotional offers: ECDSA over texts that U+2063 separates.
///
/// The customer's device accepts a signature for 24 hours after its timestamp. Source: Generating a signature for promotional offers
/// (StoreKit, original API).
package struct PromotionalOfferSigner: Sendable {
    /// U+2063, the invisible separator.
    ///
    /// No text may contain it, because two different offers would then have the same message.
    package static let separator: Unicode.Scalar = "\u{2063}"

    private let key: SigningKey
    private let keyId: String
    private let bundleId: String

    package struct Signature: Sendable {
        /// Base64 of the signature in DER, as ASCII.
        package let text: [UInt8]
        /// A lower-case UUID.
        package let nonce: String
        /// Milliseconds since 1970.
        package let timestamp: Int64
        package let keyIdentifier: String
    }

    package init(key: SigningKey, keyId: String, bundleId: String) {
        self.key = key
        self.keyId = keyId
        self.bundleId = bundleId
    }

    /// Signs one offer.
    ///
    /// - Parameters:
    ///   - offerIdentifier: The offer's identifier in App Store Connect.
    ///   - applicationUsername: The text that the app sets as `applicationUsername`, or an empty text; it is signed in lower case.
    ///   - now: The timestamp.
    ///   - nonces: Has the nonce of the offer.
    /// - Returns: The signature and the values that the app needs with it.
    /// - Throws: ``SigningError``.
    package func sign(
        productId: String,
        offerIdentifier: String,
        applicationUsername: String,
        at now: UnixMilliseconds,
        nonces: inout RandomUUIDs
    ) throws(SigningError) -> Signature {
        let nonce = UUIDText.text(of: nonces.next())
        let texts = [
            bundleId, keyId, productId, offerIdentifier, applicationUsername.lowercased(), nonce, String(now.rawValue),
        ]
        let message = Array(texts.joined(separator: String(Self.separator)).utf8)
        let der = try key.signatures.der(of: message.span)
        var text: [UInt8] = []
        der.withSpan { Base64.appendStandard($0, to: &text) }
        return Signature(
            text: text,
            nonce: nonce,
            timestamp: now.rawValue,
            keyIdentifier: keyId
        )
    }
}
