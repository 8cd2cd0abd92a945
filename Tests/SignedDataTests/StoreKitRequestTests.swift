import AppStoreModel
import Basics
import Hashing
import StrictJSON
import Testing

@testable import SignedData

/// Signatures of requests that an app passes to StoreKit.
struct StoreKitRequestTests {
    private let key: SigningKey
    private let now = UnixMilliseconds(rawValue: 1_780_000_000_999)

    init() throws { key = try SigningKey.generate() }

    private func decoded(_ segment: ArraySlice<UInt8>) -> [UInt8]? { Base64.decodeURL(Array(segment).span) }

    private func decodedStandard(_ text: [UInt8]) -> [UInt8]? { Base64.decodeStandard(text.span) }

    /// The claims of a signature, after a check of the signature and its header.
    private func claims(
        _ audience: StoreKitRequestSigner.Audience,
        _ claims: [StoreKitRequestSigner.Claim]
    ) throws -> JSONObject {
        let signer = StoreKitRequestSigner(
            audience,
            key: key,
            keyId: #"K"1"#,
            issuerId: "issuer",
            bundleId: "com.example.game"
        )
        var nonces = RandomUUIDs()
        let text = try signer.sign(claims, at: now, nonces: &nonces)
        let parts = try CompactJWS(text.span, maximumBytes: 10_000)
        let signature = try #require(decoded(text[parts.signature]))
        let message = Array(text[parts.signed])
        #expect(ES256.verify(signature: signature, message: message, publicKey: key.publicKey))
        let header = try StrictJSON.parseObject(#require(decoded(text[parts.header])))
        #expect(
            header
                == JSONObject([
                    .init(key: "alg", value: .string("ES256")), .init(key: "kid", value: .string(#"K"1"#)),
                    .init(key: "typ", value: .string("JWT")),
                ])
        )
        return try StrictJSON.parseObject(#require(decoded(text[parts.payload])))
    }

    @Test func `a promotional offer has Apple's claims, a unique nonce and no expiry`() throws {
        let offer: [StoreKitRequestSigner.Claim] = [
            .productId(#"pro"é"#), .offerIdentifier("win.back"), .transactionId("2000000123456789"),
        ]
        let first = try claims(.promotionalOffer, offer)
        #expect(
            first.members.map(\.key)
                == ["iss", "aud", "bid", "iat", "nonce", "productId", "offerIdentifier", "transactionId"]
        )
        #expect(first["iss"]?.string == "issuer" && first["bid"]?.string == "com.example.game")
        #expect(first["aud"]?.string == "promotional-offer")
        #expect(first["iat"]?.number?.int64 == 1_780_000_000)
        #expect(first["productId"]?.string == #"pro"é"#)
        #expect(first["offerIdentifier"]?.string == "win.back")
        #expect(first["transactionId"]?.string == "2000000123456789")
        let nonce = try #require(first["nonce"]?.string)
        #expect(nonce.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(try claims(.promotionalOffer, offer)["nonce"]?.string != nonce)
    }

    @Test func `an introductory offer's claim is a Boolean, and a request is base64 of its bytes`() throws {
        let eligibility = try claims(
            .introductoryOfferEligibility,
            [.productId("p"), .allowIntroductoryOffer(false), .transactionId("1")]
        )
        #expect(eligibility["aud"]?.string == "introductory-offer-eligibility")
        #expect(eligibility["allowIntroductoryOffer"]?.bool == false)
        let json = Array(#"{"operation": "é"}"#.utf8)
        let request = try claims(.advancedCommerce, [.request(json)])
        #expect(request["aud"]?.string == "advanced-commerce-api")
        let text = try #require(request["request"]?.string)
        #expect(decodedStandard(Array(text.utf8)) == json)
    }

    @Test func `the older signature covers seven texts with U+2063 between them, the user name in lower case`() throws {
        let signer = PromotionalOfferSigner(key: key, keyId: "KEY1", bundleId: "com.example.game")
        var nonces = RandomUUIDs()
        let signature = try signer.sign(
            productId: "Pro",
            offerIdentifier: "Win",
            applicationUsername: "Ünal-A",
            at: now,
            nonces: &nonces
        )
        #expect(signature.timestamp == 1_780_000_000_999 && signature.keyIdentifier == "KEY1")
        let texts = ["com.example.game", "KEY1", "Pro", "Win", "ünal-a", signature.nonce, "1780000000999"]
        let message = Array(texts.joined(separator: "\u{2063}").utf8)
        let der = try #require(decodedStandard(signature.text))
        let raw = ECDSASignatureDER.raw(fromTrustedDER: der.span)
        let bytes = [UInt8](copying: try #require(raw).span)
        #expect(ES256.verify(signature: bytes, message: message, publicKey: key.publicKey))
    }

    @Test func `many threads sign with one key`() async throws {
        let issuer = JWSIssuer(headerJSON: Array("{}".utf8), key: key)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask { [key] in
                    for turn in 0..<50 {
                        let text = try issuer.text(of: Array("\(number) \(turn)".utf8))
                        let parts = try CompactJWS(text.span, maximumBytes: 1_000)
                        guard let signature = Base64.decodeURL(text.span.extracting(parts.signature)),
                            ES256.verify(
                                signature: signature,
                                message: Array(text[parts.signed]),
                                publicKey: key.publicKey
                            )
                        else { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
