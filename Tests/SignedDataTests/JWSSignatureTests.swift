import AppStoreModel
import Hashing
import TestSupport
import Testing

@testable import SignedData

struct JWSSignatureTests {
    let world: SignedWorld

    init() throws { world = try SignedWorld() }

    static let zero = [UInt8](repeating: 0, count: 32)
    static let one = [UInt8](repeating: 0, count: 31) + [1]

    @Test(arguments: [0, 10, 40, 63])
    func `J10 a changed signature byte is noticed`(position: Int) throws {
        let jws = try world.signed().replacingSegment(2) { segment in
            var bytes = decodeURL(segment) ?? []
            bytes[position] ^= 1
            return base64URL(bytes)
        }
        #expect(world.refusal(of: jws) == .signature)
    }

    @Test func `J10 a changed payload is noticed`() throws {
        let other = Array(#"{"transactionId":"2000000123456780","signedDate":1794999940000}"#.utf8)
        #expect(world.refusal(of: try world.signed().replacingSegment(1) { _ in base64URL(other) }) == .signature)
    }

    @Test func `J10 a changed header is noticed`() throws {
        let other = base64URL(Array(#"{"x5c":\#(world.x5cJSON),"alg":"ES256"}"#.utf8))
        #expect(world.refusal(of: try world.signed().replacingSegment(0) { _ in other }) == .signature)
    }

    @Test func `J11 the signature of another record is refused`() throws {
        let other = try world.signed(SignedWorld.payload(signedDate: "1794999940001")).segment(2)
        #expect(world.refusal(of: try world.signed().replacingSegment(2) { _ in other }) == .signature)
    }

    @Test func `J12 another key under the same name is refused`() throws {
        let twin = try world.authority.intermediate.issue(.leaf(from: SignedWorld.begin, to: SignedWorld.end))
        #expect(world.refusal(of: try world.signed(x5c: world.authority.chain, by: twin)) == .signature)
    }

    @Test(arguments: [0, 1, 63, 65, 70, 71, 72, 128, 16_384])
    func `J39 J40 a signature that is not 64 bytes is refused`(count: Int) throws {
        let jws = try world.signed().replacingSegment(2) { _ in base64URL([UInt8](repeating: 0x30, count: count)) }
        #expect(world.refusal(of: jws) == .signatureLength)
    }

    @Test(arguments: [
        zero + zero, zero + one, one + zero, orderOfP256 + one, one + orderOfP256, orderOfP256 + orderOfP256,
        [UInt8](repeating: 0xFF, count: 64),
    ])
    func `J41 J42 J44 numbers outside the group are refused`(signature: [UInt8]) throws {
        #expect(world.refusal(of: try world.signed().replacingSegment(2) { _ in base64URL(signature) }) == .signature)
    }

    @Test func `J42 a record's own r or s put out of range is refused`() throws {
        let jws = try world.signed()
        let signature = try #require(decodeURL(jws.segment(2)))
        for broken in [orderOfP256 + signature[32...], signature[..<32] + orderOfP256, Self.zero + signature[32...]] {
            #expect(world.refusal(of: jws.replacingSegment(2) { _ in base64URL(Array(broken)) }) == .signature)
        }
    }

    @Test func `J43 short integers are padded and trimmed`() throws {
        var seen: Set<Int> = []
        for number in 0..<20_000 where seen.count < 2 {
            let jws = try world.signed(SignedWorld.payload(signedDate: "\(1_794_999_900_000 + number)"))
            let signature = try #require(decodeURL(jws.segment(2)))
            for half in 0..<2 where signature[half * 32] == 0 {
                #expect(world.refusal(of: jws) == nil)
                seen.insert(half)
            }
        }
        #expect(seen == [0, 1])
    }

    @Test func `J47 the twin signature gives the same payload and no other identity`() throws {
        let jws = try world.signed()
        let signature = try #require(decodeURL(jws.segment(2)))
        let twin = jws.replacingSegment(2) { _ in
            base64URL(Array(signature[..<32]) + orderOfP256(minus: Array(signature[32...])))
        }
        let original = try world.verifier.verify(jws, now: world.now)
        let mirrored = try world.verifier.verify(twin, now: world.now)
        #expect(original.signature != mirrored.signature)
        #expect(original.payloadSHA256 == mirrored.payloadSHA256)
    }

    @Test func `a verification that fails in the middle does not count as success`() throws {
        // With the curve's base point as public key, r = n - SHA-256(message) makes the sum of points infinite, which
        // OpenSSL reports as -1 and not as 0.
        let x: [UInt8] = [
            0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
            0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
        ]
        let y: [UInt8] = [
            0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16,
            0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
        ]
        let key = try #require(P256PublicKey(uncompressedPoint: [0x04] + x + y))
        let message = Array("any message".utf8)
        let signature = orderOfP256(minus: SHA256.digest(of: message)) + Self.one
        #expect(!ES256.verify(signature: signature, message: message, publicKey: key))
    }

    @Test func `a point off the curve is no key`() {
        #expect(P256PublicKey(uncompressedPoint: [0x04] + [UInt8](repeating: 1, count: 64)) == nil)
        #expect(P256PublicKey(uncompressedPoint: [0x02] + [UInt8](repeating: 1, count: 32)) == nil)
        #expect(P256PublicKey(uncompressedPoint: []) == nil)
    }
}
