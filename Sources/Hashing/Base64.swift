/// Strict base64 (RFC 4648): every sequence of bytes has exactly one text.
///
/// Decoding refuses other characters, white space, missing or extra padding, and trailing bits that are not zero. With a
/// lenient decoder one signed record would have many texts.
package enum Base64 {
    /// Base64url without padding, as JWS segments are written (RFC 7515, section 2).
    package static func decodeURL(_ text: Span<UInt8>) -> [UInt8]? {
        decode(text, count: text.count, values: urlValues)
    }

    /// Standard base64 with padding, as `x5c` entries and PEM bodies are written.
    package static func decodeStandard(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        return decode(text, count: count, values: standardValues)
    }

    /// Base64url text of `bytes`, without padding.
    package static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        appendURL(bytes.span, to: &text)
        return text
    }

    /// Appends the base64url text of `bytes`, without padding.
    package static func appendURL(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        append(bytes, to: &text, pairs: urlPairs)
    }

    /// Standard base64 text of `bytes`, padded.
    package static func encodeStandard(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        appendStandard(bytes.span, to: &text)
        return text
    }

    /// Appends the standard base64 text of `bytes`, padded.
    package static func appendStandard(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        append(bytes, to: &text, pairs: standardPairs)
        for _ in 0..<(3 - bytes.count % 3) % 3 { text.append(UInt8(ascii: "=")) }
    }

    private static func decode(_ text: Span<UInt8>, count: Int, values: [UInt8]) -> [UInt8]? {
        let rest = count % 4
        guard rest != 1 else { return nil }
        let values = values.span
        var combined: UInt8 = 0
        var unusedBits: UInt8 = 0
        let bytes = [UInt8](capacity: count / 4 * 3 + 2) { bytes in
            var index = 0
            while index + 4 <= count {
                let a = values[Int(text[index])], b = values[Int(text[index + 1])]
                let c = values[Int(text[index + 2])], d = values[Int(text[index + 3])]
                combined |= a | b | c | d
                bytes.append(a << 2 | b >> 4)
                bytes.append(b << 4 | c >> 2)
                bytes.append(c << 6 | d)
                index += 4
            }
            guard rest >= 2 else { return }
            let a = values[Int(text[index])], b = values[Int(text[index + 1])]
            let c = rest == 3 ? values[Int(text[index + 2])] : 0
            combined |= a | b | c
            bytes.append(a << 2 | b >> 4)
            if rest == 3 { bytes.append(b << 4 | c >> 2) }
            unusedBits = rest == 3 ? c << 6 : b << 4
        }
        return combined & invalid == 0 && unusedBits == 0 ? bytes : nil
    }

    /// The length of the base64url text of this many bytes.
    package static func urlTextCount(of byteCount: Int) -> Int {
        (byteCount * 4 + 2) / 3
    }

    private static func append(_ bytes: Span<UInt8>, to text: inout [UInt8], pairs: [UInt16]) {
        text.append(addingCapacity: urlTextCount(of: bytes.count)) { text in
            var index = appendGroups(of: bytes, to: &text, pairs: pairs)
            while index < bytes.count {
                let rest = bytes.count - index
                let b = rest > 1 ? UInt32(bytes[index + 1]) : 0, c = rest > 2 ? UInt32(bytes[index + 2]) : 0
                let word = UInt32(bytes[index]) << 16 | b << 8 | c
                let characters = UInt32(pairs[Int(word >> 12)]) | UInt32(pairs[Int(word & 0xFFF)]) << 16
                for place in 0..<min(rest + 1, 4) {
                    text.append(UInt8(truncatingIfNeeded: characters >> (8 * place)))
                }
                index += 3
            }
        }
    }

    /// Appends eight characters for six bytes at a time, and returns how many bytes that were.
    ///
    /// Each load has eight bytes, so the last bytes are left.
    private static func appendGroups(
        of bytes: Span<UInt8>,
        to text: inout OutputSpan<UInt8>,
        pairs: [UInt16]
    ) -> Int {
        let groups = max(0, bytes.count - 2) / 6
        precondition(text.freeCapacity >= 8 * groups && pairs.count == 4_096)
        unsafe text.withUnsafeMutableBufferPointer { buffer, count in
            unsafe pairs.withUnsafeBufferPointer { pairs in
                let output = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]
                )
                for group in 0..<groups {
                    let loaded = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: 6 * group, as: UInt64.self)
                    let word = UInt64(bigEndian: loaded)
                    let a = unsafe UInt64(pairs[Int(word >> 52)]), b = unsafe UInt64(pairs[Int(word >> 40 & 0xFFF)])
                    let c = unsafe UInt64(pairs[Int(word >> 28 & 0xFFF)]),
                        d = unsafe UInt64(pairs[Int(word >> 16 & 0xFFF)])
                    let characters = a | b << 16 | c << 32 | d << 48
                    unsafe output.storeBytes(of: characters.littleEndian, toByteOffset: 8 * group, as: UInt64.self)
                }
            }
            count += 8 * groups
        }
        return 6 * groups
    }

    /// Marks a character that is not in the alphabet; valid values are below 64.
    private static let invalid: UInt8 = 0x80

    private static let shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let urlAlphabet = [UInt8]((shared + "-_").utf8)
    private static let standardAlphabet = [UInt8]((shared + "+/").utf8)
    private static let urlPairs = pairs(of: urlAlphabet)
    private static let standardPairs = pairs(of: standardAlphabet)
    private static let urlValues = values(of: urlAlphabet)
    private static let standardValues = values(of: standardAlphabet)

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }

    /// The two characters of each twelve bits, the first of them in the lower byte.
    private static func pairs(of alphabet: [UInt8]) -> [UInt16] {
        alphabet.flatMap { first in alphabet.map { second in UInt16(second) << 8 | UInt16(first) } }
    }
}
