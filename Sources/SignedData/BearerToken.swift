package import AppStoreModel
import StrictJSON

/// A token for requests to the App Store Server API, valid for some minutes.
package struct BearerToken: Sendable {
    /// The JWT, only for the header `Authorization: Bearer`.
    package let text: Secret<String>
    /// Requests that begin at or after this moment need a new token.
    package let reuseUntil: UnixMilliseconds
}

/// Creates bearer tokens with an In-App Purchase key.
///
/// Source: Generating JSON Web Tokens for API requests; `exp` may be at most 60 minutes after `iat`.
package struct BearerTokenSigner: Sendable {
    private let key: SigningKey
    private let keyId: String
    private let issuerId: String
    private let bundleId: String

    static let audience = "appstoreconnect-v1"
    /// How far `iat` is in the past, because Apple answers 401 when it is ahead of Apple's clock.
    private static let backdating = Duration.seconds(60)
    private static let reusePeriod = Duration.seconds(15 * 60)
    /// How long the token is valid after ``BearerToken/reuseUntil``, so that it does not expire during the last
    /// request.
    ///
    /// `exp` is 19 minutes after `iat`.
    private static let gracePeriod = Duration.seconds(3 * 60)

    package init(key: SigningKey, keyId: String, issuerId: String, bundleId: String) {
        self.key = key
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
    }

    /// The same key under another ID, or for another app of the account.
    package func with(keyId: String? = nil, bundleId: String? = nil) -> BearerTokenSigner {
        BearerTokenSigner(
            key: key,
            keyId: keyId ?? self.keyId,
            issuerId: issuerId,
            bundleId: bundleId ?? self.bundleId
        )
    }

    /// A new token; takes one signature.
    package func token(at now: UnixMilliseconds) throws(SigningError) -> BearerToken {
        let reuseUntil = now + Self.reusePeriod
        let header = JSONObject([
            .init(key: "alg", value: .string("ES256")),
            .init(key: "kid", value: .string(keyId)),
            .init(key: "typ", value: .string("JWT")),
        ])
        let claims = JSONObject([
            .init(key: "iss", value: .string(issuerId)),
            .init(key: "iat", value: .seconds(of: now - Self.backdating)),
            .init(key: "exp", value: .seconds(of: reuseUntil + Self.gracePeriod)),
            .init(key: "aud", value: .string(Self.audience)),
            .init(key: "bid", value: .string(bundleId)),
        ])
        let issuer = JWSIssuer(headerJSON: JSONWriter.bytes(.object(header)), key: key)
        let text = try issuer.sign(payload: JSONWriter.bytes(.object(claims)))
        return BearerToken(text: Secret(text), reuseUntil: reuseUntil)
    }
}

extension JSONValue {
    fileprivate static func seconds(of moment: UnixMilliseconds) -> JSONValue {
        .number(JSONNumber(text: String(moment.rawValue / 1_000)))
    }
}
