import AppStoreModel
import Hashing
import StrictJSON
import Testing

@testable import SignedData

struct VectorTests {
    private static let p1363 = "vectors/wycheproof/ecdsa_secp256r1_sha256_p1363_test.json"
    private static let der = "vectors/wycheproof/ecdsa_secp256r1_sha256_test.json"
    private static let jws = "vectors/wycheproof/json_web_signature_test.json"
    private static let appleSigned = "real/renewal-info.jws"

    @Test(.enabled(if: SharedFiles.exist(p1363), SharedFiles.missing))
    func `every Wycheproof vector of P-256 with raw signatures has the right result`() throws {
        var count = 0
        for group in try Self.groups(Self.p1363) {
            let point = try #require(group["publicKey"]?.object?["uncompressed"]?.string.flatMap(Self.hex))
            let key = try #require(P256PublicKey(uncompressedPoint: point))
            for test in try Self.tests(of: group) {
                let message = try #require(test["msg"]?.string.flatMap(Self.hex))
                let signature = try #require(test["sig"]?.string.flatMap(Self.hex))
                let isValid = ES256.verify(signature: signature, message: message, publicKey: key)
                #expect(isValid == (test["result"]?.string == "valid"), "\(test["comment"]?.string ?? "")")
                count += 1
            }
        }
        #expect(count == 262)
    }

    @Test(.enabled(if: SharedFiles.exist(der), SharedFiles.missing))
    func `no Wycheproof signature in DER passes for a raw one`() throws {
        var count = 0
        for group in try Self.groups(Self.der) {
            let point = try #require(group["publicKey"]?.object?["uncompressed"]?.string.flatMap(Self.hex))
            let key = try #require(P256PublicKey(uncompressedPoint: point))
            for test in try Self.tests(of: group) {
                let message = try #require(test["msg"]?.string.flatMap(Self.hex))
                let signature = try #require(test["sig"]?.string.flatMap(Self.hex))
                #expect(!ES256.verify(signature: signature, message: message, publicKey: key))
                count += 1
            }
        }
        #expect(count == 484)
    }

    @Test(.enabled(if: SharedFiles.exist(jws), SharedFiles.missing))
    func `every Wycheproof JWS has the right result under an ES256 key and is refused under any other`() throws {
        let own = try IssuedCertificate.selfSigned(ChainTests.leafShape).key.publicKeyInfo.suffix(65)
        let ownKey = try #require(P256PublicKey(uncompressedPoint: Array(own)))
        var (judged, refused, aboutKeyUse) = (0, 0, 0)
        for group in try Self.groups(Self.jws) {
            let jwk = group["public"]?.object
            for test in try Self.tests(of: group) {
                let text = try #require(test["jws"]?.string)
                let comment = Comment(rawValue: test["comment"]?.string ?? "")
                if jwk?["alg"]?.string == "ES256", let x = jwk?["x"]?.string.flatMap(decodeURL),
                    let y = jwk?["y"]?.string.flatMap(decodeURL)
                {
                    let key = try #require(P256PublicKey(uncompressedPoint: [0x04] + x + y))
                    #expect(Self.accepts(text, key: key) == (test["result"]?.string == "valid"), comment)
                    judged += 1
                } else if jwk?["crv"]?.string == "P-256" {
                    // What a JWK says its key is for; StoreLedger reads no JWK, because a key is in its certificate.
                    aboutKeyUse += 1
                } else {
                    #expect(!Self.accepts(text, key: ownKey), comment)
                    refused += 1
                }
            }
        }
        #expect((judged, refused, aboutKeyUse) == (39, 360, 2))
    }

    @Test(.enabled(if: SharedFiles.exist(appleSigned), SharedFiles.missing))
    func `a record that Apple signed is accepted under the built-in root, long after its leaf expired`() throws {
        let text = String(decoding: try SharedFiles.bytes(Self.appleSigned), as: UTF8.self)
        let jws = String(text.prefix { !$0.isWhitespace })
        let verified = try JWSVerifier().verify(jws, now: SignedWorld.now)
        #expect(verified.signedDate.rawValue == 1_684_822_778_492)
        #expect(verified.json["originalTransactionId"]?.string == "2000000335310644")
        #expect(!verified.rootDiffers)
        let stranger = try SignedWorld().refusal(of: jws)
        #expect(stranger == .chain)
    }

    @Test(.enabled(if: SharedFiles.exist(appleSigned), SharedFiles.missing))
    func `J24 Apple's own intermediate and root do not pass as leaves`() throws {
        let text = String(decoding: try SharedFiles.bytes(Self.appleSigned), as: UTF8.self)
        let header = try JWSHeader(text: text.segment(0).utf8.span)
        let chains = try ChainVerifier(trustedRoots: [AppleRootCA.g3])
        for leaf in header.x5c[1...] {
            let rejection = #expect(throws: JWSRejection.self) {
                try chains.verify(x5c: [leaf, header.x5c[1], header.x5c[2]])
            }
            #expect(rejection?.reason == .leafIsAuthority)
        }
    }

    @Test func `the built-in root is Apple's, by its published digest`() {
        let digest = SHA256.digest(of: AppleRootCA.g3).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digest == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    }

    /// The rules of a compact JWS that do not depend on who signed it.
    private static func accepts(_ text: String, key: P256PublicKey) -> Bool {
        let span = text.utf8.span
        do {
            let parts = try CompactJWS(span, maximumBytes: JWSVerifier.maximumBytes)
            let header = try JWSHeader.members(text: span.extracting(parts.header))
            guard header["alg"]?.string == "ES256", Base64.decodeURL(span.extracting(parts.payload)) != nil,
                let signature = Base64.decodeURL(span.extracting(parts.signature))
            else { return false }
            return key.check.accepts(signature.span, of: span.extracting(parts.signed))
        } catch {
            return false
        }
    }

    private static func groups(_ path: String) throws -> [JSONObject] {
        let file = try StrictJSON.parseObject(SharedFiles.bytes(path))
        return try #require(file["testGroups"]?.array).compactMap { $0.object }
    }

    private static func tests(of group: JSONObject) throws -> [JSONObject] {
        try #require(group["tests"]?.array).compactMap { $0.object }
    }

    private static func hex(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
