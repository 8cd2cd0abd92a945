import AppStoreModel
import Ledger

/// Counts the distinct IDs of a list of any length, exactly, in memory that does not grow with it.
///
/// Each reading of the list counts the smallest IDs that none before has counted, as many as there is room for. A list
/// whose distinct IDs all fit is read once, however often it repeats them.
struct DistinctIDs {
    /// The most IDs held at a time, from 4; eight bytes each, and half as much again while they are sorted.
    var capacity = 8_000_000

    /// - Parameter list: Called for each reading; it has to hand over the same IDs every time.
    /// - Returns: How many IDs there are, and how many rows repeat one.
    /// - Throws: ``ListChanged`` when a reading differs from the first; what `list` throws.
    func count(_ list: IDFeed) throws -> (distinct: Int, duplicates: Int) {
        var distinct = 0
        var whole: ListReading.Summary?
        var next: UInt128? = 0
        while let start = next {
            var reading = ListReading(from: start, capacity: capacity)
            try list { reading.take($0) }
            let summary = reading.summary
            guard whole == nil || whole == summary else { throw ListChanged() }
            whole = summary
            distinct += reading.countDistinct()
            next = reading.next
        }
        return (distinct, (whole?.rows ?? 0) - distinct)
    }
}

/// The list of IDs is not what it was when the command began to read it.
struct ListChanged: Error {}

/// One reading of a list, which counts the IDs from one on up to where there is no more room.
private struct ListReading {
    /// What all readings of a list have in common.
    struct Summary: Equatable {
        let rows: Int
        /// Of the IDs, in the list's order.
        let digest: Int
    }

    /// The smallest ID left for a later reading; `nil` when there is none.
    private(set) var next: UInt128?

    private let start: UInt128
    /// The first ID there is no room for.
    private var end: UInt128
    private let capacity: Int
    /// How far the IDs taken lie behind `start`: an ID needs 67 bits, its distance from others like it 64.
    private var held: [UInt64] = []
    private var rows = 0
    private var digest = Hasher()

    init(from start: UInt128, capacity: Int) {
        precondition(capacity >= 4)
        self.start = start
        end = start + (1 << 64)
        self.capacity = capacity
        // What is never written takes no memory; growing would copy, and hold both meanwhile.
        held.reserveCapacity(capacity)
    }

    var summary: Summary {
        let digest = digest
        return Summary(rows: rows, digest: digest.finalize())
    }

    mutating func take(_ batch: [TransactionID]) {
        rows += batch.count
        for id in batch {
            let ordinal = id.ordinal
            digest.combine(ordinal)
            guard ordinal >= start else { continue }
            guard ordinal < end else {
                next = min(next ?? ordinal, ordinal)
                continue
            }
            held.append(UInt64(ordinal - start))
            if held.count == capacity { makeRoom() }
        }
    }

    /// How many IDs there are from the first of this reading up to ``next``.
    mutating func countDistinct() -> Int {
        sort()
        return held.count
    }

    /// Drops repeated IDs and, when that is not enough, the largest.
    private mutating func makeRoom() {
        sort()
        let kept = capacity / 4 * 3
        guard held.count > kept else { return }
        end = start + UInt128(held[kept])
        next = end
        held.removeSubrange(kept...)
    }

    private mutating func sort() {
        held.sort()
        var kept = 0
        // By index: an iterator would hold the array too, and the first write copy it.
        for index in held.indices where kept == 0 || held[kept - 1] != held[index] {
            held[kept] = held[index]
            kept += 1
        }
        held.removeSubrange(kept...)
    }
}

extension TransactionID {
    /// Its place among all there can be, shorter ones first: "12" and "012" have two.
    fileprivate var ordinal: UInt128 {
        text.utf8.reduce(0) { $0 * 10 + UInt128($1 - UInt8(ascii: "0")) + 1 }
    }
}
