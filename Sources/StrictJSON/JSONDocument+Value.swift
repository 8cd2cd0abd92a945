extension JSONElement {
    /// A value that was not read from JSON text, such as one of a job file, as the root of a document.
    ///
    /// The bytes of the document are the texts and numbers of the value, one after the other.
    package init(_ value: JSONValue) {
        var writer = NodeWriter()
        writer.append(value)
        self.init(
            document: JSONDocument(
                bytes: writer.bytes,
                nodes: writer.nodes,
                holdsUnsafeNumber: writer.holdsUnsafeNumber
            ),
            place: 0
        )
    }
}

/// Writes values as nodes.
private struct NodeWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var nodes: [JSONNode] = []
    private(set) var holdsUnsafeNumber = false

    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append(.null, "")
        case .bool(let isTrue): append(isTrue ? .true : .false, "")
        case .number(let number):
            append(.number, number.text)
            holdsUnsafeNumber = holdsUnsafeNumber || !number.isSafeInDatabase
        case .string(let text): append(.plainString, text)
        case .array(let elements):
            append(.array) { writer in
                for element in elements { writer.append(element) }
            }
        case .object(let object):
            append(.object) { writer in
                for member in object.members {
                    writer.append(.plainString, member.key)
                    writer.append(member.value)
                }
            }
        }
    }

    private mutating func append(_ kind: JSONNode.Kind, _ text: String) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        nodes.append(JSONNode(kind, start..<bytes.count, at: nodes.count))
    }

    private mutating func append(_ kind: JSONNode.Kind, content: (inout Self) -> Void) {
        let place = nodes.count
        nodes.append(JSONNode(opening: kind, at: bytes.count))
        content(&self)
        nodes[place].close(at: bytes.count, before: nodes.count)
    }
}
