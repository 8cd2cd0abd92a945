import AppStoreModel
import StrictJSON
import Testing

@testable import SignedData

struct BearerTokenTests {
    private let key: SigningKey
    private let now = SignedWorld.now
    private var seconds: Int64 { now.rawValue / 1_000 }

    init() throws { key = try SigningKey.generate() }

    private var verifier: BearerTokenVerifier {
        BearerTokenVerifier(publicKey: key.publicKey, keyId: "KEY1", issuerId: "issuer", bundleId: "com.example.game")
    }

    private func rejection(
        header: String = #"{"alg":"ES256","kid":"KEY1","typ":"JWT"}"#,
        claims: String,
        signedBy other: SigningKey? = nil
    ) throws -> BearerTokenVerifier.Rejection? {
        let token = try JWSIssuer(headerJSON: Array(header.utf8), key: other ?? key).sign(payload: Array(claims.utf8))
        return rejection(of: token)
    }

    private func rejection(of token: String) -> BearerTokenVerifier.Rejection? {
        do {
            try verifier.verify(token, now: now)
            return nil
        } catch {
            return error
        }
    }

    private func claims(
        iss: String = "issuer",
        aud: String = #""appstoreconnect-v1""#,
        bid: String = "com.example.game",
        times: String
    ) -> String {
        #"{"iss":"\#(iss)","aud":\#(aud),"bid":"\#(bid)"\#(times)}"#
    }

    @Test func `CK7 a token is dated back, lives under twenty minutes and is reused for fifteen`() throws {
        let signer = BearerTokenSigner(key: key, keyId: "KEY1", issuerId: "issuer", bundleId: "com.example.game")
        let token = try signer.token(at: now)
        #expect(token.reuseUntil == now + .seconds(900))
        #expect("\(token)".contains("eyJ") == false)
        let text = token.text.reveal()
        #expect(rejection(of: text) == nil)
        let header = try StrictJSON.parseObject(#require(decodeURL(text.segment(0))))
        #expect(
            header
                == JSONObject([
                    .init(key: "alg", value: .string("ES256")), .init(key: "kid", value: .string("KEY1")),
                    .init(key: "typ", value: .string("JWT")),
                ])
        )
        let claims = try StrictJSON.parseObject(#require(decodeURL(text.segment(1))))
        #expect(claims.members.map(\.key) == ["iss", "iat", "exp", "aud", "bid"])
        let iat = try #require(claims["iat"]?.number?.int64)
        let exp = try #require(claims["exp"]?.number?.int64)
        #expect(iat == seconds - 60)
        #expect(exp - iat <= 20 * 60)
        #expect(exp > token.reuseUntil.rawValue / 1_000 + 60)
    }

    @Test func `names that need escaping still make one valid token`() throws {
        let signer = BearerTokenSigner(key: key, keyId: #"K"\"#, issuerId: "i\n", bundleId: "b\u{1}é")
        let verifier = BearerTokenVerifier(
            publicKey: key.publicKey,
            keyId: #"K"\"#,
            issuerId: "i\n",
            bundleId: "b\u{1}é"
        )
        try verifier.verify(signer.token(at: now).text.reveal(), now: now)
    }

    @Test func `what Apple's client libraries send is accepted`() throws {
        for times in [
            #","exp":\#(seconds + 300),"iat":\#(seconds)"#, #","exp":\#(seconds + 300)"#,
            #","exp":\#(seconds + 3_600)"#,
            #","exp":\#(seconds + 299).75,"iat":\#(seconds - 1).25"#,
            #","exp":\#(seconds + 10),"iat":\#(seconds - 3_590)"#,
        ] {
            #expect(try rejection(claims: claims(times: times)) == nil, "\(times)")
        }
        let list = claims(aud: #"["appstoreconnect-v1"]"#, times: #","exp":\#(seconds + 300)"#)
        #expect(try rejection(claims: list) == nil)
    }

    @Test func `every fault of a token has its own reason`() throws {
        let good = #","exp":\#(seconds + 300)"#
        #expect(try rejection(header: #"{"alg":"none","kid":"KEY1"}"#, claims: claims(times: good)) == .alg)
        #expect(try rejection(header: #"{"alg":"ES256","kid":"KEY2"}"#, claims: claims(times: good)) == .kid)
        #expect(try rejection(header: #"{"alg":"ES256"}"#, claims: claims(times: good)) == .kid)
        let critical = #"{"alg":"ES256","kid":"KEY1","crit":["exp"]}"#
        #expect(try rejection(header: critical, claims: claims(times: good)) == .malformed)
        #expect(try rejection(claims: claims(times: good), signedBy: .generate()) == .signature)
        #expect(try rejection(claims: claims(iss: "other", times: good)) == .iss)
        #expect(try rejection(claims: claims(aud: #""other""#, times: good)) == .aud)
        #expect(try rejection(claims: claims(bid: "other", times: good)) == .bid)
        #expect(try rejection(claims: claims(times: "")) == .exp)
        #expect(try rejection(claims: claims(times: #","exp":"soon""#)) == .exp)
        #expect(try rejection(claims: claims(times: #","exp":\#(seconds)"#)) == .expired)
        #expect(try rejection(claims: claims(times: #","exp":\#(seconds + 3_601)"#)) == .tooLong)
        #expect(try rejection(claims: claims(times: #","exp":\#(seconds + 11),"iat":\#(seconds - 3_590)"#)) == .tooLong)
        #expect(
            try rejection(claims: claims(times: #","exp":9223372036854775807,"iat":-9223372036854775807"#)) == .tooLong
        )
        #expect(try rejection(claims: claims(times: good + #","iat":\#(seconds + 1)"#)) == .iat)
        #expect(try rejection(claims: claims(times: good + #","iat":null"#)) == .iat)
        #expect(try rejection(claims: "{") == .malformed)
        for token in ["", "Bearer", "a.b.c", String(repeating: "A", count: 9_000)] {
            #expect(rejection(of: token) == .malformed)
        }
    }
}
