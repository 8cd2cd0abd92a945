/// One value of a ``JSONDocument``, decoded when it is read.
///
/// Public, because the compiler inlines public functions into other modules, but not functions of the package.
public struct JSONElement: Sendable {
    @usableFromInline
    let document: JSONDocument
    @usableFromInline
    let place: Int

    @inlinable
    init(document: JSONDocument, place: Int) {
        self.document = document
        self.place = place
    }

    private var node: JSONNode { document.nodes[place] }

    /// The range of the element's text in the document's bytes; a string's text excludes the quotes.
    package var textRange: Range<Int> { node.text }

    package var isNull: Bool { node.kind == .null }

    package var isObject: Bool { node.kind == .object }

    /// Whether it is a string of exactly these bytes.
    package func isText(_ text: String) -> Bool { node.isText(text.utf8.span, in: document.bytes) }

    /// The place of the text of a string in a list; `nil` for another text, and for anything but a string.
    package func place(in table: KeyTable) -> Int? {
        let node = node
        guard node.kind == .plainString || node.kind == .escapedString else { return nil }
        return table.place(of: node, in: document.bytes)
    }

    /// Calls `body` with the bytes of a string, without a copy if the string has no escapes; `nil` for anything else.
    @inlinable
    public func withText<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let bytes = document.bytes
        if let range = plainTextRange { return try body(bytes.span.extracting(range)) }
        guard let text = string else { return nil }
        return try body(text.utf8.span)
    }

    /// The range of the text of a string without escapes; `nil` for anything else.
    @usableFromInline
    var plainTextRange: Range<Int>? { node.kind == .plainString ? node.text : nil }

    /// What kind of value it is, for a message.
    package var kind: String {
        switch node.kind {
        case .null: "null"
        case .true, .false: "a boolean"
        case .number: "a number"
        case .plainString, .escapedString: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    package var bool: Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    @usableFromInline
    package var string: String? {
        let node = node
        guard node.kind == .plainString || node.kind == .escapedString else { return nil }
        return node.string(in: document.bytes)
    }

    package var number: JSONNumber? {
        let node = node
        guard node.kind == .number else { return nil }
        return JSONNumber(text: String(decoding: document.bytes[node.text], as: UTF8.self))
    }

    /// The number if it is written as an integer, without fraction and exponent, and fits.
    package var int64: Int64? {
        let node = node
        guard node.kind == .number else { return nil }
        let bytes = document.bytes
        var value: Int64 = 0
        let isNegative = bytes[Int(node.start)] == UInt8(ascii: "-")
        for index in (isNegative ? node.text.dropFirst() : node.text) {
            guard case let digit = bytes[index] &- UInt8(ascii: "0"), digit < 10 else { return nil }
            let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
            // Subtracts, because the smallest number has no positive counterpart.
            let (sum, isTooLittle) = tens.subtractingReportingOverflow(Int64(digit))
            guard !isTooMuch, !isTooLittle else { return nil }
            value = sum
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    package var isArray: Bool { node.kind == .array }

    /// Whether it is an array or an object without content.
    package var isEmpty: Bool { (isArray || isObject) && Int(node.next) == place + 1 }

    /// The elements of an array; `nil` for anything else.
    package var array: [JSONElement]? { isArray ? Array(elements) : nil }

    /// The elements of an array in their order; none for other values.
    package var elements: Elements {
        let node = node
        return Elements(document: document, place: place + 1, end: node.kind == .array ? Int(node.next) : 0)
    }

    /// The members of an object in their order in the document; none for other values.
    package var members: Members {
        let node = node
        return Members(document: document, place: place + 1, end: node.kind == .object ? Int(node.next) : 0)
    }

    /// The member's value, or `nil` if this is not an object or has no such member; names are compared as bytes.
    ///
    /// JSON `null` is an element, not `nil`.
    @inlinable
    public subscript(key: String) -> JSONElement? {
        guard let place = document.value(of: key, at: place) else { return nil }
        return JSONElement(document: document, place: place)
    }

    /// Calls `body` for each member, in document order, with the place of its name in `table` and its value.
    package func forEachMember(in table: KeyTable, _ body: (_ place: Int?, _ value: JSONElement) -> Void) {
        let document = document
        let nodes = document.nodes
        let bytes = document.bytes
        guard nodes[place].kind == .object else { return }
        let end = Int(nodes[place].next)
        var next = place + 1
        while next < end {
            body(table.place(of: nodes[next], in: bytes), JSONElement(document: document, place: next + 1))
            next = Int(nodes[next + 1].next)
        }
    }

    /// Whether a number anywhere in the document must not be sent to PostgreSQL as a number.
    package var documentHoldsUnsafeNumber: Bool { document.holdsUnsafeNumber }

    /// The name of the member whose value this is; undefined for other elements.
    package var memberName: String {
        place > 0 ? document.nodes[place - 1].string(in: document.bytes) : ""
    }

    /// The whole value as an independent tree.
    package var value: JSONValue {
        switch node.kind {
        case .null: .null
        case .true: .bool(true)
        case .false: .bool(false)
        case .number: .number(number ?? JSONNumber(text: ""))
        case .plainString, .escapedString: .string(string ?? "")
        case .array: .array((array ?? []).map(\.value))
        case .object: .object(object ?? JSONObject())
        }
    }

    /// An object as an independent tree; `nil` for other values.
    package var object: JSONObject? {
        isObject ? JSONObject(members.map { JSONObject.Member(key: $0.key, value: $0.value.value) }) : nil
    }
}

extension JSONElement: Equatable {
    /// Whether both have the same content, regardless of notation; numbers are compared as text.
    public static func == (left: Self, right: Self) -> Bool {
        left.value == right.value
    }
}

extension JSONElement {
    /// A member of an object.
    package struct Member: Sendable {
        fileprivate let document: JSONDocument
        fileprivate let place: Int

        package var key: String { document.nodes[place].string(in: document.bytes) }

        package var value: JSONElement { JSONElement(document: document, place: place + 1) }
    }

    /// The elements of one array.
    package struct Elements: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var place: Int
        fileprivate let end: Int

        package mutating func next() -> JSONElement? {
            guard place < end else { return nil }
            let element = JSONElement(document: document, place: place)
            place = Int(document.nodes[place].next)
            return element
        }
    }

    /// The members of one object.
    package struct Members: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var place: Int
        fileprivate let end: Int

        package mutating func next() -> Member? {
            guard place < end else { return nil }
            let member = Member(document: document, place: place)
            place = Int(document.nodes[place + 1].next)
            return member
        }
    }
}
