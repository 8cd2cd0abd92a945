/// Finds a text in a fixed list by its bytes: a member name, or one of a few words.
///
/// Length, first, middle and last byte distinguish nearly all names. Hashing the whole name would cost more than
/// comparing it.
package final class KeyTable: Sendable {
    package let keys: [String]
    /// The bytes of all keys.
    private let bytes: [UInt8]
    /// Where each key is in `bytes`.
    private let ranges: [Range<Int>]
    /// Places in `keys`, by hash, with linear probing; negative for none.
    private let buckets: [Int]

    package init(_ keys: [String]) {
        self.keys = keys
        var bytes: [UInt8] = []
        ranges = keys.map { key in
            let start = bytes.count
            bytes.append(contentsOf: key.utf8)
            return start..<bytes.count
        }
        self.bytes = bytes
        var size = 4
        while size < 4 * keys.count { size *= 2 }
        var buckets = [Int](repeating: -1, count: size)
        for (place, range) in ranges.enumerated() {
            var bucket = Self.mixture(of: bytes.span.extracting(range)) & (size - 1)
            while buckets[bucket] >= 0 { bucket = (bucket + 1) & (size - 1) }
            buckets[bucket] = place
        }
        self.buckets = buckets
    }

    /// The place of the key in the list; `nil` if it is not there.
    func place(of key: Span<UInt8>) -> Int? {
        let buckets = buckets, bytes = bytes
        var bucket = Self.mixture(of: key) & (buckets.count - 1)
        while buckets[bucket] >= 0 {
            let place = buckets[bucket]
            if areSameBytes(bytes.span.extracting(ranges[place]), key) { return place }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    /// The same of a string of a document, or of a member name.
    func place(of text: JSONNode, in bytes: [UInt8]) -> Int? {
        text.kind == .plainString
            ? place(of: bytes.span.extracting(text.text)) : place(of: text.string(in: bytes).utf8.span)
    }

    private static func mixture(of key: Span<UInt8>) -> Int {
        guard key.count > 0 else { return 0 }
        let first = Int(key[0]), middle = Int(key[key.count / 2]), last = Int(key[key.count - 1])
        return key.count &* 31 &+ first &* 7 &+ middle &* 13 &+ last &* 3
    }
}
