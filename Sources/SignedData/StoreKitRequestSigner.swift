package import AppStoreModel
package import Basics
import Hashing
import StrictJSON

/// Signs requests that an app passes to StoreKit: a JWS with an audience for each kind of request.
///
/// The signature is made offline. It has no expiry, and its nonce is unique.
///
/// Source: Generating JWS to sign App Store requests (StoreKit); claims and header as in Apple's server libraries.
package struct StoreKitRequestSigner: Sendable {
    package enum Audience: String, Sendable {
        case advancedCommerce = "advanced-commerce-api"
        case promotionalOffer = "promotional-offer"
        case introductoryOfferEligibility = "introductory-offer-eligibility"
    }

    private let issuer: JWSIssuer
    /// The claims that are the same in every request, up to the value of `iat`.
    private let claims: [UInt8]

    package init(_ audience: Audience, key: SigningKey, keyId: String, issuerId: String, bundleId: String) {
        let header = JSONObject([
            .init(key: "alg", value: .string("ES256")),
            .init(key: "kid", value: .string(keyId)),
            .init(key: "typ", value: .string("JWT")),
        ])
        issuer = JWSIssuer(headerJSON: JSONWriter.bytes(.object(header)), key: key)
        let common = JSONObject([
            .init(key: "iss", value: .string(issuerId)),
            .init(key: "aud", value: .string(audience.rawValue)),
            .init(key: "bid", value: .string(bundleId)),
        ])
        claims = JSONWriter.bytes(.object(common)).dropLast() + Array(#","iat":"#.utf8)
    }

    /// Signs one request; takes one signature.
    ///
    /// - Parameters:
    ///   - now: Becomes `iat`, in whole seconds.
    ///   - nonces: Has the nonce of the request.
    /// - Returns: The compact JWS, as ASCII.
    /// - Throws: ``SigningError``.
    package func sign(
        _ claims: [Claim],
        at now: UnixMilliseconds,
        nonces: inout RandomUUIDs
    ) throws(SigningError) -> [UInt8] {
        var text: [UInt8] = []
        try append(claims, at: now, nonces: &nonces, to: &text)
        return text
    }

    /// Signs one request as ``sign(_:at:nonces:)`` does, and appends the signature to `output`.
    package func append(
        _ claims: [Claim],
        at now: UnixMilliseconds,
        nonces: inout RandomUUIDs,
        to output: inout [UInt8]
    ) throws(SigningError) {
        var payload: [UInt8] = []
        payload.reserveCapacity(claims.reduce(self.claims.count + 128) { $0 + $1.byteCount })
        payload.append(contentsOf: self.claims)
        payload.append(contentsOf: String(now.rawValue / 1_000).utf8)
        payload.append(contentsOf: #","nonce":""#.utf8)
        UUIDText.append(nonces.next(), to: &payload)
        payload.append(UInt8(ascii: "\""))
        for claim in claims { claim.append(to: &payload) }
        payload.append(UInt8(ascii: "}"))
        try issuer.append(payload.span, to: &output)
    }

    /// A claim of one kind of request.
    package enum Claim: Sendable {
        case productId(String)
        case offerIdentifier(String)
        case transactionId(String)
        case allowIntroductoryOffer(Bool)
        /// An Advanced Commerce request as UTF-8 JSON, which the claim has in base64.
        case request([UInt8])

        /// About how many bytes it has in the payload.
        fileprivate var byteCount: Int {
            switch self {
            case .productId(let text), .offerIdentifier(let text), .transactionId(let text): text.utf8.count + 24
            case .allowIntroductoryOffer: 32
            case .request(let json): json.count * 4 / 3 + 24
            }
        }

        fileprivate func append(to payload: inout [UInt8]) {
            switch self {
            case .productId(let text): append(text, as: "productId", to: &payload)
            case .offerIdentifier(let text): append(text, as: "offerIdentifier", to: &payload)
            case .transactionId(let text): append(text, as: "transactionId", to: &payload)
            case .allowIntroductoryOffer(let isAllowed):
                payload.append(contentsOf: (#","allowIntroductoryOffer":"# + (isAllowed ? "true" : "false")).utf8)
            case .request(let json):
                payload.append(contentsOf: #","request":""#.utf8)
                Base64.appendStandard(json.span, to: &payload)
                payload.append(UInt8(ascii: "\""))
            }
        }

        private func append(_ text: String, as name: String, to payload: inout [UInt8]) {
            payload.append(contentsOf: ",\"\(name)\":".utf8)
            JSONWriter.append(text, to: &payload)
        }
    }
}
