package import AppStoreModel
import Hashing
import StrictJSON

/// Verifies bearer tokens as Apple does; it accepts the tokens of all of Apple's client libraries.
package struct BearerTokenVerifier: Sendable {
    private let publicKey: P256PublicKey
    private let keyId: String
    private let issuerId: String
    private let bundleId: String

    /// The longest token that is read; Apple's clients send about 400 bytes.
    private static let maximumBytes = 8 * 1_024
    /// In seconds.
    private static let longestValidity: Int64 = 60 * 60

    package init(publicKey: P256PublicKey, keyId: String, issuerId: String, bundleId: String) {
        self.publicKey = publicKey
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
    }

    /// Why a token is refused with 401.
    package enum Rejection: String, Error, CaseIterable, Sendable {
        case malformed, alg, kid, signature, iss, aud, bid, exp, expired, iat
        /// Valid for longer than an hour.
        case tooLong
    }

    /// The `bid` of the token in an `Authorization` header, which is not verified; `nil` if it has none.
    package static func claimedBundleId(in authorization: String) -> String? {
        let parts = authorization.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let text = String(parts[1])
        guard let payload = Base64.decodeURL(text.utf8.span),
            let claims = try? JSONElement.strictObject(payload, in: "claims")
        else { return nil }
        return claims["bid"]?.string
    }

    /// Verifies a token; without `iat` its validity is counted from `now`.
    ///
    /// - Returns: When it expires. Until then the same token is accepted.
    @discardableResult
    package func verify(_ token: String, now: UnixMilliseconds) throws(Rejection) -> UnixMilliseconds {
        let text = token.utf8.span
        let header: JSONElement
        let claims: JSONElement
        do {
            let parts = try CompactJWS(text, maximumBytes: Self.maximumBytes)
            header = try JWSHeader.members(text: text.extracting(parts.header))
            guard header["alg"]?.string == "ES256" else { throw Rejection.alg }
            guard header["kid"]?.string == keyId else { throw Rejection.kid }
            guard let payload = Base64.decodeURL(text.extracting(parts.payload)),
                let signature = Base64.decodeURL(text.extracting(parts.signature))
            else { throw Rejection.malformed }
            guard publicKey.check.accepts(signature.span, of: text.extracting(parts.signed)) else {
                throw Rejection.signature
            }
            claims = try JSONElement.strictObject(payload, in: "claims")
        } catch let rejection as Rejection {
            throw rejection
        } catch {
            throw .malformed
        }
        guard header["crit"] == nil, header["b64"] == nil else { throw .malformed }
        let expiry = try check(claims, nowInSeconds: now.rawValue / 1_000)
        return UnixMilliseconds(rawValue: expiry * 1_000)
    }

    /// - Returns: When the token expires, in seconds.
    private func check(_ claims: JSONElement, nowInSeconds now: Int64) throws(Rejection) -> Int64 {
        guard claims["iss"]?.string == issuerId else { throw .iss }
        let audiences = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        guard audiences.contains(where: { $0.isText(BearerTokenSigner.audience) }) else { throw .aud }
        guard claims["bid"]?.string == bundleId else { throw .bid }
        // Some libraries write seconds with a fraction.
        guard let exp = claims["exp"]?.number?.flooredInt64 else { throw .exp }
        guard exp > now else { throw .expired }
        var validFrom = now
        if let value = claims["iat"] {
            guard let iat = value.number?.flooredInt64, iat <= now else { throw .iat }
            validFrom = iat
        }
        let (validity, overflowed) = exp.subtractingReportingOverflow(validFrom)
        guard !overflowed, validity <= Self.longestValidity else { throw .tooLong }
        return exp
    }
}
