/// A document that passed the strict scan: its bytes, and the position of every value.
///
/// Most values are read once or never. So the scan builds one table instead of a tree, and a value is decoded when it
/// is read.
///
/// Public for the reason of ``JSONElement``.
public final class JSONDocument: Sendable {
    @usableFromInline
    package let bytes: [UInt8]
    /// Values and member names in their order in the document: a container before its content, a name before its value.
    let nodes: [JSONNode]
    /// Whether a number at any depth must not be sent to PostgreSQL as a number.
    package let holdsUnsafeNumber: Bool

    init(bytes: [UInt8], nodes: [JSONNode], holdsUnsafeNumber: Bool) {
        self.bytes = bytes
        self.nodes = nodes
        self.holdsUnsafeNumber = holdsUnsafeNumber
    }

    package var root: JSONElement { JSONElement(document: self, place: 0) }

    /// The place of a member's value of the object at `place`; names are compared as bytes.
    ///
    /// `nil` if there is no object at `place` or it has no such member.
    @usableFromInline
    func value(of key: String, at place: Int) -> Int? {
        let nodes = nodes
        guard nodes[place].kind == .object else { return nil }
        let key = key.utf8.span
        let end = Int(nodes[place].next)
        var next = place + 1
        while next < end {
            if nodes[next].isText(key, in: bytes) { return next + 1 }
            next = Int(nodes[next + 1].next)
        }
        return nil
    }
}

/// One value or one member name.
struct JSONNode: BitwiseCopyable, Sendable {
    enum Kind: UInt8, BitwiseCopyable, Sendable {
        case null, `true`, `false`, number, object, array
        /// A string without escapes.
        case plainString
        case escapedString
    }

    let kind: Kind
    /// The start of the text in the bytes; a string's text excludes the quotes.
    let start: UInt32
    private(set) var end: UInt32
    /// The place of the next node after this one and its content.
    private(set) var next: UInt32

    /// A scalar or a name that will stand at `place`.
    init(_ kind: Kind, _ text: Range<Int>, at place: Int) {
        self.kind = kind
        start = UInt32(text.lowerBound)
        end = UInt32(text.upperBound)
        next = UInt32(place + 1)
    }

    /// A container whose end is not yet known.
    init(opening kind: Kind, at start: Int) {
        self.kind = kind
        self.start = UInt32(start)
        end = 0
        next = 0
    }

    mutating func close(at end: Int, before next: Int) {
        self.end = UInt32(end)
        self.next = UInt32(next)
    }

    var text: Range<Int> { Int(start)..<Int(end) }

    /// Whether it is a string or a name with this text, byte for byte.
    func isText(_ other: Span<UInt8>, in bytes: [UInt8]) -> Bool {
        switch kind {
        case .plainString: areSameBytes(bytes.span.extracting(text), other)
        case .escapedString: areSameBytes(string(in: bytes).utf8.span, other)
        default: false
        }
    }

    /// The text of a string or name; empty for anything else.
    func string(in bytes: [UInt8]) -> String {
        switch kind {
        case .plainString: String(decoding: bytes[text], as: UTF8.self)
        case .escapedString: JSONStringScanner.unescaped(text, of: bytes)
        default: ""
        }
    }
}

/// Whether both are the same bytes.
func areSameBytes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var index = 0
    while index + 8 <= left.count {
        // Any eight bytes are a valid UInt64.
        let word = unsafe left.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        let other = unsafe right.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        guard word == other else { return false }
        index += 8
    }
    while index < left.count {
        guard left[index] == right[index] else { return false }
        index += 1
    }
    return true
}
