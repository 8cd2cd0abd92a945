import Hashing
import Testing

struct EncodingTests {
    @Test func `base64 of every length comes back`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            #expect(Base64.decodeURL(Base64.encodeURL(bytes).span) == bytes)
            #expect(Base64.decodeStandard(Base64.encodeStandard(bytes).span) == bytes)
        }
    }

    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
    ])
    func `base64 agrees with the RFC`(plain: String, encoded: String) {
        #expect(Base64.encodeStandard(Array(plain.utf8)) == Array(encoded.utf8))
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Z===", "Zh==", "Zm9=", "Zm9v=", "Z g=", "Zg==Zg==", "=", "====", "Zm9v\n", "Zm-v",
    ])
    func `standard base64 has one form`(text: String) {
        #expect(Base64.decodeStandard(text.utf8.span) == nil)
    }

    @Test(arguments: ["Z", "Zh", "Zm9vZ", "Zg==", "Zm8=", "Zm+v", "Zm/v", "Zm9v ", "Zm9", "\u{0}\u{0}"])
    func `base64url has one form`(text: String) {
        #expect(Base64.decodeURL(text.utf8.span) == nil)
    }

    @Test func `SHA-256 in parts is SHA-256 at once`() {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        var hash = SHA256()
        for part in stride(from: 0, to: 1_000, by: 7) { hash.update(Array(bytes[part..<min(part + 7, 1_000)])) }
        #expect(hash.finish() == SHA256.digest(of: bytes))
        // FIPS 180-4 example "abc".
        #expect(SHA256.digest(of: Array("abc".utf8)).prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
        #expect(SHA256().finish() == SHA256.digest(of: []))
    }
}
