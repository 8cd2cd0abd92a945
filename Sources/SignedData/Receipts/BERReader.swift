import COpenSSL

/// Reads the elements of one level of BER (X.690), of which DER is a part.
///
/// OpenSSL reads tags and lengths. The bytes are not copied, so that the memory does not depend on the number of elements.
struct BERReader {
    /// The bytes are not BER, end too early, or are nested more than ``BERReader/deepest`` levels.
    struct Malformed: Error {}

    struct Element {
        /// The tag's number; ``BERTag`` has those of receipts.
        let tag: Int32
        let isUniversal: Bool
        let isConstructed: Bool
        let content: ArraySlice<UInt8>
        fileprivate let end: Int

        /// Whether it ends an element of indefinite length: two zeros.
        fileprivate var endsContent: Bool { isUniversal && tag == 0 && content.isEmpty }

        func has(_ wanted: Int32) -> Bool { isUniversal && tag == wanted }
    }

    /// The most levels of elements of indefinite length, and of parts of an octet string; receipts of Xcode have six.
    static let deepest = 12

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The next element; `nil` at the end.
    mutating func next() throws(Malformed) -> Element? {
        guard !rest.isEmpty else { return nil }
        let element = try Self.element(in: rest, level: 0)
        rest = rest[element.end...]
        return element
    }

    /// The next element, which must have this universal tag.
    mutating func next(_ tag: Int32) throws(Malformed) -> Element {
        guard let element = try next(), element.has(tag) else { throw Malformed() }
        return element
    }

    /// The content of the next element, which must be `[0]` of its context.
    mutating func nextExplicit() throws(Malformed) -> BERReader {
        guard let element = try next(), !element.isUniversal, element.isConstructed, element.tag == 0 else {
            throw Malformed()
        }
        return BERReader(element.content)
    }

    /// The bytes of an octet string, whose parts are joined.
    static func octets(of element: Element, level: Int = 0) throws(Malformed) -> ArraySlice<UInt8> {
        guard element.has(BERTag.octetString), level < deepest else { throw Malformed() }
        guard element.isConstructed else { return element.content }
        var joined: [UInt8] = []
        var parts = BERReader(element.content)
        while let part = try parts.next() { joined += try octets(of: part, level: level + 1) }
        return joined[...]
    }

    private static func element(in bytes: ArraySlice<UInt8>, level: Int) throws(Malformed) -> Element {
        let header = try Header(bytes)
        let start = bytes.startIndex + header.count
        guard header.isIndefinite else {
            guard header.length <= bytes.endIndex - start else { throw Malformed() }
            let end = start + header.length
            return header.element(bytes[start..<end], end: end)
        }
        guard level < deepest else { throw Malformed() }
        var at = start
        while true {
            let inner = try element(in: bytes[at...], level: level + 1)
            if inner.endsContent { return header.element(bytes[start..<at], end: inner.end) }
            at = inner.end
        }
    }

    private struct Header {
        /// The number of its bytes.
        let count: Int
        /// The number of bytes of the content, unless the length is indefinite.
        let length: Int
        let isIndefinite: Bool
        private let tag: Int32
        private let tagClass: Int32
        private let isConstructed: Bool

        init(_ bytes: ArraySlice<UInt8>) throws(Malformed) {
            var (read, contentLength) = (0, 0)
            var (number, kind): (Int32, Int32) = (0, 0)
            let flags = unsafe bytes.withUnsafeBufferPointer { buffer -> Int32 in
                guard let start = buffer.baseAddress else { return Self.failed }
                var cursor: UnsafePointer<UInt8>? = unsafe start
                let flags = unsafe ASN1_get_object(&cursor, &contentLength, &number, &kind, buffer.count)
                if let end = unsafe cursor { read = unsafe end - start }
                return flags
            }
            guard flags & Self.failed == 0 else {
                OpenSSLErrors.drain()
                throw Malformed()
            }
            (count, length, tag, tagClass) = (read, contentLength, number, kind)
            isConstructed = flags & V_ASN1_CONSTRUCTED != 0
            isIndefinite = flags & Self.indefinite != 0
        }

        func element(_ content: ArraySlice<UInt8>, end: Int) -> Element {
            Element(
                tag: tag,
                isUniversal: tagClass == V_ASN1_UNIVERSAL,
                isConstructed: isConstructed,
                content: content,
                end: end
            )
        }

        /// The bits of the answer of `ASN1_get_object`, besides the one for a constructed element.
        private static let failed: Int32 = 0x80
        private static let indefinite: Int32 = 0x01
    }
}

/// The universal tags in receipts.
enum BERTag {
    static let integer = V_ASN1_INTEGER
    static let octetString = V_ASN1_OCTET_STRING
    static let objectIdentifier = V_ASN1_OBJECT
    static let utf8String = V_ASN1_UTF8STRING
    static let sequence = V_ASN1_SEQUENCE
    static let set = V_ASN1_SET
}
