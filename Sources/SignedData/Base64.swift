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
        encode(bytes.span, alphabet: urlAlphabet)
    }

    /// Standard base64 text of `bytes`, padded.
    package static func encodeStandard(_ bytes: [UInt8]) -> [UInt8] {
        var text = encode(bytes.span, alphabet: standardAlphabet)
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return text
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
    static func urlTextCount(of byteCount: Int) -> Int {
        (byteCount * 4 + 2) / 3
    }

    private static func encode(_ bytes: Span<UInt8>, alphabet: [UInt8]) -> [UInt8] {
        let alphabet = alphabet.span
        return [UInt8](capacity: (bytes.count + 2) / 3 * 4) { text in
            var index = 0
            while index + 3 <= bytes.count {
                let a = bytes[index], b = bytes[index + 1], c = bytes[index + 2]
                text.append(alphabet[Int(a >> 2)])
                text.append(alphabet[Int((a << 4 | b >> 4) & 0x3F)])
                text.append(alphabet[Int((b << 2 | c >> 6) & 0x3F)])
                text.append(alphabet[Int(c & 0x3F)])
                index += 3
            }
            let rest = bytes.count - index
            guard rest > 0 else { return }
            let a = bytes[index], b = rest == 2 ? bytes[index + 1] : 0
            text.append(alphabet[Int(a >> 2)])
            text.append(alphabet[Int((a << 4 | b >> 4) & 0x3F)])
            if rest == 2 { text.append(alphabet[Int(b << 2 & 0x3F)]) }
        }
    }

    /// Marks a character that is not in the alphabet; valid values are below 64.
    private static let invalid: UInt8 = 0x80

    private static let shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let urlAlphabet = [UInt8]((shared + "-_").utf8)
    private static let standardAlphabet = [UInt8]((shared + "+/").utf8)
    private static let urlValues = values(of: urlAlphabet)
    private static let standardValues = values(of: standardAlphabet)

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }
}
