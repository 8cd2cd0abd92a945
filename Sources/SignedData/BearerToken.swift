package import AppStoreModel
import StrictJSON

/// A token that lets this process call the App Store Server API for a while.
package struct BearerToken: Sendable {
    /// The JWT; goes after `Authorization: Bearer`, and nowhere else.
    package let text: Secret<String>
    /// Use it for requests that begin before this moment; then make a new one.
    package let reuseUntil: UnixMilliseconds
}

/// Makes bearer tokens from App Store Connect's key.
///
/// Source: Generating JSON Web Tokens for API requests; `exp` may lie at most 60 minutes after `iat`.
package struct BearerTokenSigner: Sendable {
    private let key: SigningKey
    private let keyId: String
    private let issuerId: String
    private let bundleId: String

    static let audience = "appstoreconnect-v1"
    /// Apple answers 401 when `iat` lies ahead of its clock, so ours may be this much fast.
    private static let backdating = Duration.seconds(60)
    private static let reuse = Duration.seconds(15 * 60)
    /// What remains for a request that begins at the last moment; the whole life is 19 minutes.
    private static let flight = Duration.seconds(3 * 60)

    package init(key: SigningKey, keyId: String, issuerId: String, bundleId: String) {
        self.key = key
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
    }

    /// A new token; costs one signature.
    package func token(at now: UnixMilliseconds) throws(SigningError) -> BearerToken {
        let reuseUntil = now + Self.reuse
        let header = JSONObject([
            .init(key: "alg", value: .string("ES256")),
            .init(key: "kid", value: .string(keyId)),
            .init(key: "typ", value: .string("JWT")),
        ])
        let claims = JSONObject([
            .init(key: "iss", value: .string(issuerId)),
            .init(key: "iat", value: .seconds(of: now - Self.backdating)),
            .init(key: "exp", value: .seconds(of: reuseUntil + Self.flight)),
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
