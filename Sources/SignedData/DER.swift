/// A minimal DER reader, to check a certificate or key before OpenSSL parses it.
///
/// Strict: definite, shortest lengths and single-byte tags only. A structure that this reader accepts is unambiguous, so
/// OpenSSL cannot find another key in it.
struct DERReader {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.init(bytes, bytes.indices)
    }

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    struct Element {
        let tag: UInt8
        /// Tag, length and content.
        let whole: Range<Int>
        let content: Range<Int>
    }

    var isAtEnd: Bool { position == end }

    /// The tag of the next element, `nil` at the end.
    var nextTag: UInt8? { position < end ? bytes[position] : nil }

    /// The next element, or `nil` when there is none, it is not strict DER, or it has another tag.
    mutating func next(_ expected: UInt8? = nil) -> Element? {
        guard end - position >= 2 else { return nil }
        let start = position
        let tag = bytes[start]
        guard expected == nil || tag == expected, tag & 0x1F != 0x1F else { return nil }
        var contentStart = start + 2
        var length = Int(bytes[start + 1])
        if length >= 0x80 {
            let lengthBytes = length - 0x80
            guard (1...3).contains(lengthBytes), end - contentStart >= lengthBytes else { return nil }
            length = bytes[contentStart..<contentStart + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
            contentStart += lengthBytes
            guard length >= 0x80, length >> (8 * (lengthBytes - 1)) != 0 else { return nil }
        }
        guard length <= end - contentStart else { return nil }
        position = contentStart + length
        return Element(tag: tag, whole: start..<position, content: contentStart..<position)
    }

    /// Skips the next element and returns a reader of its content.
    mutating func enter(_ expected: UInt8) -> DERReader? {
        next(expected).map { DERReader(bytes, $0.content) }
    }
}

/// The DER tags in certificates, keys and receipts.
enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let utf8String: UInt8 = 0x0C
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let explicitVersion: UInt8 = 0xA0
}
