/// The distinct values of a column chunk, in the order of their first use.
struct ValueDictionary {
    /// A dictionary of more bytes would not pay: its values rarely repeat.
    private static let byteLimit = 1_048_576

    private(set) var values = ByteStrings()
    /// A hash table with open addressing: an index in ``values`` plus one, or 0.
    ///
    /// Its length is a power of two.
    private var slots = [UInt32](repeating: 0, count: 1_024)

    /// Looks up the values of one page, and adds the new ones.
    ///
    /// - Returns: The index of each value; `nil` if most of the values are new or the dictionary would become too long. Then
    ///   none is added, and no further page can use the dictionary.
    mutating func indices(of page: ByteStrings) -> [UInt32]? {
        let countBefore = values.count
        var indices: [UInt32] = []
        indices.reserveCapacity(page.count)
        for place in 0..<page.count { indices.append(index(of: page.bytes.span.extracting(page.range(place)))) }
        guard 2 * (values.count - countBefore) <= page.count, values.bytes.count <= Self.byteLimit else {
            values.truncate(to: countBefore)
            slots = []
            return nil
        }
        return indices
    }

    private mutating func index(of value: Span<UInt8>) -> UInt32 {
        var slot = Self.hash(value) & (slots.count - 1)
        while slots[slot] != 0 {
            let index = slots[slot] - 1
            if isEqual(values.bytes.span.extracting(values.range(Int(index))), value) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        values.append(value)
        slots[slot] = UInt32(values.count)
        if 2 * values.count > slots.count { grow() }
        return UInt32(values.count - 1)
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: 4 * slots.count)
        for index in 0..<values.count {
            var slot = Self.hash(values.bytes.span.extracting(values.range(index))) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(index + 1)
        }
    }

    /// FNV-1a with 64 bits; the high bits are folded in, because the table uses the low ones.
    private static func hash(_ value: Span<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in value.indices { hash = (hash ^ UInt64(value[index])) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash ^ hash >> 32)
    }
}

private func isEqual(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Bool {
    guard first.count == second.count else { return false }
    for index in first.indices where first[index] != second[index] { return false }
    return true
}
