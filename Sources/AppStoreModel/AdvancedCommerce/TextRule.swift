/// Rules for the UTF-8 of a text, checked without a copy of it.
enum TextRule {
    static func holdsControlCharacter(_ text: Span<UInt8>) -> Bool {
        var found: UInt8 = 0
        for index in text.indices { found |= text[index] < 0x20 || text[index] == 0x7F ? 1 : 0 }
        return found != 0
    }

    /// Whether it is three upper-case letters.
    static func isCode(_ text: Span<UInt8>) -> Bool {
        guard text.count == 3 else { return false }
        for index in text.indices where !(0x41...0x5A).contains(text[index]) { return false }
        return true
    }

    /// Whether it is a UUID in its usual form, with digits in either case.
    static func isUUID(_ text: Span<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for index in text.indices {
            let byte = text[index]
            let isRight =
                switch index {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                default: (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
                }
            guard isRight else { return false }
        }
        return true
    }
}
