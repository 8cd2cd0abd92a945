import AppStoreModel

/// The number of IDs in a list.
package struct IDCount: Equatable {
    package var distinct: Int
    /// Rows that repeat an earlier ID.
    package var duplicates: Int
    /// Whether the two figures are estimates, because the list has more IDs than fit in memory.
    package var isEstimate = false
    /// Rows of a query without an ID, which a run leaves out.
    package var nulls = 0
    package var skipped = SkippedReceipts()

    package init(distinct: Int, duplicates: Int, isEstimate: Bool = false, nulls: Int = 0) {
        self.distinct = distinct
        self.duplicates = duplicates
        self.nulls = nulls
        self.isEstimate = isEstimate
    }

    /// Says which rows are left out, and why.
    package var leftOut: [String] {
        guard nulls > 0 else { return skipped.sentences }
        let sentence =
            nulls == 1 ? "1 row without an ID (NULL) is left out" : "\(nulls) rows without an ID (NULL) are left out"
        return [sentence] + skipped.sentences
    }
}

/// Counts the distinct IDs of a list of any length in one pass and bounded memory.
///
/// The count is exact up to ``capacity`` IDs. For a longer list it is estimated from a sample: the IDs whose hash is
/// below a bound. The bound is halved whenever the sample is full. With half a million IDs or more in the sample, the
/// standard error is at most 0.15%.
struct DistinctIDs {
    /// The most IDs in memory, at about 8 bytes each.
    var capacity = 1_000_000

    /// - Throws: Errors of `list`.
    func count(_ list: (_ take: ([String]) throws -> Void) throws -> Void) throws -> IDCount {
        var sample = DistinctHashes(capacity: capacity)
        var rows = 0
        /// The number of leading zero bits in the hash of every sampled ID.
        var zeros = 0
        func shrink() {
            sample.merge()
            while sample.count > capacity {
                zeros += 1
                sample.keep { $0.leadingZeroBitCount >= zeros }
            }
        }
        try list { batch in
            rows += batch.count
            for hash in batch.map(\.idHash) where hash.leadingZeroBitCount >= zeros {
                sample.add(hash)
                if sample.isDue { shrink() }
            }
        }
        shrink()
        let distinct = min(sample.count << zeros, rows)
        return IDCount(distinct: distinct, duplicates: rows - distinct, isEstimate: zeros > 0)
    }
}

/// Hashes in one sorted array, which takes less memory than a set.
private struct DistinctHashes {
    private static let mostAdded = 10_000

    private var sorted: [UInt64] = []
    /// Hashes that ``merge()`` has not seen yet.
    private var added: [UInt64] = []

    // The array has its final capacity from the start, because an array that grows is copied. Unused capacity takes no memory.
    init(capacity: Int) { sorted.reserveCapacity(capacity + Self.mostAdded) }

    /// The distinct hashes at the last merge.
    var count: Int { sorted.count }
    var isDue: Bool { added.count >= Self.mostAdded }

    mutating func add(_ hash: UInt64) { added.append(hash) }

    mutating func merge() {
        added.sort()
        var place = 0
        var last: UInt64?
        let new = added.filter { hash in
            defer { last = hash }
            while place < sorted.count, sorted[place] < hash { place += 1 }
            return hash != last && (place == sorted.count || sorted[place] != hash)
        }
        added.removeAll(keepingCapacity: true)
        var (old, next) = (sorted.count, new.count)
        sorted += new
        // From the end, so that no hash is overwritten before it is moved.
        while next > 0 {
            if old > 0, sorted[old - 1] > new[next - 1] {
                old -= 1
                sorted[old + next] = sorted[old]
            } else {
                next -= 1
                sorted[old + next] = new[next]
            }
        }
    }

    mutating func keep(where isKept: (UInt64) -> Bool) { sorted.removeAll { !isKept($0) } }
}

extension String {
    /// The hash is the same in every run.
    ///
    /// The probability that any two of a million IDs share a hash is below 1 in 10,000,000.
    fileprivate var idHash: UInt64 {
        // FNV-1a with 128 bits.
        let prime: UInt128 = 0x0100_0000_0000_0000_0000_013B
        let hash = utf8.reduce(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D as UInt128) { ($0 ^ UInt128($1)) &* prime }
        return mixed(UInt64(truncatingIfNeeded: hash) ^ mixed(UInt64(hash >> 64)))
    }
}

/// The finalizer of SplitMix64: every bit of the result depends on every bit of `value`.
private func mixed(_ value: UInt64) -> UInt64 {
    var value = value &+ 0x9E37_79B9_7F4A_7C15
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
}
