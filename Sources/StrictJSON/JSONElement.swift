/// One value of a ``JSONDocument``, read when it is asked for.
package struct JSONElement: Sendable {
    private let document: JSONDocument
    private let place: Int

    init(document: JSONDocument, place: Int) {
        self.document = document
        self.place = place
    }

    private var node: JSONNode { document.nodes[place] }

    /// Where the element's text lies in the document's bytes; a string's without its quotes.
    package var textRange: Range<Int> { node.text }

    package var isNull: Bool { node.kind == .null }

    package var isObject: Bool { node.kind == .object }

    /// Whether it is a string of exactly these bytes.
    package func isText(_ text: String) -> Bool {
        let node = node
        switch node.kind {
        case .plainString: return node.isEqual(to: text, in: document.bytes)
        case .escapedString: return node.string(in: document.bytes).isByteEqual(to: text)
        default: return false
        }
    }

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

    /// The number where it is written as an integer, without fraction and exponent, and fits.
    package var int64: Int64? {
        let node = node
        guard node.kind == .number else { return nil }
        let bytes = document.bytes
        var value: Int64 = 0
        let isNegative = bytes[Int(node.start)] == UInt8(ascii: "-")
        for index in (isNegative ? node.text.dropFirst() : node.text) {
            guard case let digit = bytes[index] &- UInt8(ascii: "0"), digit < 10 else { return nil }
            let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
            // Downwards, for the least number has no positive counterpart.
            let (sum, isTooLittle) = tens.subtractingReportingOverflow(Int64(digit))
            guard !isTooMuch, !isTooLittle else { return nil }
            value = sum
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    /// The elements of an array; `nil` for anything else.
    package var array: [JSONElement]? {
        guard node.kind == .array else { return nil }
        var elements: [JSONElement] = []
        var next = place + 1
        while next < node.next {
            elements.append(JSONElement(document: document, place: next))
            next = Int(document.nodes[next].next)
        }
        return elements
    }

    /// The members of an object in the order they were written; none for anything else.
    package var members: Members {
        let node = node
        return Members(document: document, place: place + 1, end: node.kind == .object ? Int(node.next) : 0)
    }

    /// The member's value, or `nil` when this is no object or has no such member; names are compared as bytes.
    ///
    /// JSON `null` is an element, not `nil`.
    package subscript(key: String) -> JSONElement? {
        document.value(of: key, at: place).map { JSONElement(document: document, place: $0) }
    }

    /// Calls `body` for each member, in the order they were written, with the place of its name in the list and its value;
    /// names are compared as bytes.
    package func forEachMember(in table: KeyTable, _ body: (_ place: Int?, _ value: JSONElement) -> Void) {
        let document = document
        let nodes = document.nodes
        let bytes = document.bytes
        guard nodes[place].kind == .object else { return }
        let end = Int(nodes[place].next)
        var next = place + 1
        while next < end {
            let name = nodes[next]
            let isPlain = name.kind == .plainString
            let found =
                isPlain
                ? table.place(of: bytes.span.extracting(name.text)) : table.place(of: name.string(in: bytes))
            body(found, JSONElement(document: document, place: next + 1))
            next = Int(nodes[next + 1].next)
        }
    }

    /// Whether a number anywhere in its document must not go to PostgreSQL as a number.
    package var documentHoldsUnsafeNumber: Bool { document.holdsUnsafeNumber }

    /// The name of the member whose value this is; means nothing for other elements.
    package var memberName: String {
        place > 0 ? document.nodes[place - 1].string(in: document.bytes) : ""
    }

    /// All of it as a tree of its own.
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

    /// An object as a tree of its own; `nil` for anything else.
    package var object: JSONObject? {
        isObject ? JSONObject(members.map { JSONObject.Member(key: $0.key, value: $0.value.value) }) : nil
    }
}

extension JSONElement: Equatable {
    /// Whether both say the same, however they are written; numbers are compared as text.
    package static func == (left: Self, right: Self) -> Bool {
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
