/// Finds a member name in a fixed list by its bytes.
///
/// Length, first, middle and last byte distinguish nearly all names. Hashing the whole name would cost more than
/// comparing it.
package struct KeyTable: Sendable {
    private let keys: [[UInt8]]
    /// Places in `keys`, by hash, with linear probing.
    private let buckets: [Int?]

    package init(_ keys: [String]) {
        self.keys = keys.map { Array($0.utf8) }
        var size = 4
        while size < 4 * keys.count { size *= 2 }
        var buckets = [Int?](repeating: nil, count: size)
        for (place, key) in self.keys.enumerated() {
            var bucket = Self.mixture(of: key.span) & (size - 1)
            while buckets[bucket] != nil { bucket = (bucket + 1) & (size - 1) }
            buckets[bucket] = place
        }
        self.buckets = buckets
    }

    /// The place of the key in the list; `nil` if it is not there.
    func place(of key: Span<UInt8>) -> Int? {
        var bucket = Self.mixture(of: key) & (buckets.count - 1)
        while let place = buckets[bucket] {
            if Self.isEqual(keys[place], key) { return place }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    func place(of key: String) -> Int? { place(of: key.utf8.span) }

    private static func mixture(of key: Span<UInt8>) -> Int {
        guard key.count > 0 else { return 0 }
        let first = Int(key[0]), middle = Int(key[key.count / 2]), last = Int(key[key.count - 1])
        return key.count &* 31 &+ first &* 7 &+ middle &* 13 &+ last &* 3
    }

    private static func isEqual(_ key: [UInt8], _ other: Span<UInt8>) -> Bool {
        guard key.count == other.count else { return false }
        for index in key.indices where key[index] != other[index] { return false }
        return true
    }
}
