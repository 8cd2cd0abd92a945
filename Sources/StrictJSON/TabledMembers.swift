/// The members of an object by the places of their names in a ``KeyTable``.
///
/// Public for the reason of ``JSONElement``. Noncopyable, because a copy would be made for each value that is read.
public struct TabledMembers: ~Copyable {
    /// The most keys of the table.
    package static let mostKeys = 16

    @usableFromInline
    let document: JSONDocument
    /// The place of each value in the document; 0, the place of the root, without one.
    @usableFromInline
    var places = InlineArray<16, Int32>(repeating: 0)
    /// The place of the first value whose name is not in the table; 0 without one.
    private var unknownPlace = 0

    fileprivate init(_ document: JSONDocument) {
        self.document = document
    }

    /// The value of the member with the key at this place of the table; `nil` if the object does not have it.
    @inlinable
    public subscript(key: Int) -> JSONElement? {
        let place = Int(places[key])
        return place > 0 ? JSONElement(document: document, place: place) : nil
    }

    /// The name of the first member that is not in the table.
    package var unknownName: String? {
        unknownPlace > 0 ? JSONElement(document: document, place: unknownPlace).memberName : nil
    }

    fileprivate mutating func insert(_ key: Int?, place: Int) {
        if let key {
            places[key] = Int32(place)
        } else if unknownPlace == 0 {
            unknownPlace = place
        }
    }
}

extension JSONElement {
    /// The members of an object, found in one pass; none for other values.
    ///
    /// The table has at most ``TabledMembers/mostKeys`` keys.
    package func members(in table: KeyTable) -> TabledMembers {
        precondition(table.keys.count <= TabledMembers.mostKeys, "the table has too many keys")
        var members = TabledMembers(document)
        let nodes = document.nodes
        let end = nodes[place].kind == .object ? Int(nodes[place].next) : 0
        var next = place + 1
        while next < end {
            members.insert(table.place(of: nodes[next], in: document.bytes), place: next + 1)
            next = Int(nodes[next + 1].next)
        }
        return members
    }
}
