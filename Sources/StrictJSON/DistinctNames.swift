/// Finds duplicate member names of one object, compared byte for byte.
///
/// Swift's `String` equality treats U+212A and `K` as equal, but PostgreSQL sees two names. Small objects are searched
/// linearly, which is faster than hashing. Large objects use a set, so that the cost stays linear.
struct DistinctNames {
    private static let comparedOneByOne = 48

    private var count = 0
    /// One bit per combination of length, first and last byte.
    ///
    /// A name whose bit is not set is new.
    private var seen: UInt64 = 0
    private var hashed: Set<ExactText> = []

    /// Adds the name that was read last to the names of the object at `object`, and returns whether it is new.
    mutating func insertLast(of nodes: [JSONNode], after object: Int, in bytes: [UInt8]) -> Bool {
        let last = nodes.count - 1
        count += 1
        guard count <= Self.comparedOneByOne else { return insertHashed(last, of: nodes, after: object, in: bytes) }
        let mark = Self.mark(of: nodes[last], in: bytes)
        guard seen & mark != 0 else {
            seen |= mark
            return true
        }
        seen |= mark
        var next = object + 1
        while next < last {
            if Self.isEqual(nodes[next], nodes[last], in: bytes) { return false }
            next = Int(nodes[next + 1].next)
        }
        return true
    }

    private mutating func insertHashed(
        _ last: Int,
        of nodes: [JSONNode],
        after object: Int,
        in bytes: [UInt8]
    ) -> Bool {
        if hashed.isEmpty {
            var next = object + 1
            while next < last {
                hashed.insert(ExactText(nodes[next].string(in: bytes)))
                next = Int(nodes[next + 1].next)
            }
        }
        return hashed.insert(ExactText(nodes[last].string(in: bytes))).inserted
    }

    /// A name with escapes can equal any other name, so it has all marks.
    private static func mark(of name: JSONNode, in bytes: [UInt8]) -> UInt64 {
        guard name.kind == .plainString else { return .max }
        let text = name.text
        guard let first = text.first, let last = text.last else { return 1 }
        return 1 << UInt64((text.count &* 37 &+ Int(bytes[first]) &* 5 &+ Int(bytes[last])) & 63)
    }

    private static func isEqual(_ left: JSONNode, _ right: JSONNode, in bytes: [UInt8]) -> Bool {
        guard left.kind == .plainString, right.kind == .plainString else {
            return left.string(in: bytes).isByteEqual(to: right.string(in: bytes))
        }
        return areSameBytes(bytes.span.extracting(left.text), bytes.span.extracting(right.text))
    }
}
