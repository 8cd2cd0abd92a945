import AppStoreModel
import Synchronization
import TestSupport
import Testing

@testable import ExportPipeline

/// How the IDs of a list are counted that has more of them than fit.
struct DistinctIDsTests {
    @Test(arguments: 0..<40)
    func `a list's IDs are counted as a set counts them, in as many readings as it takes`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let rows = Int.random(in: 0...2_000, using: &random)
        let largest = UInt64.random(in: 1...2_000, using: &random)
        let ids = try (0..<rows).map { _ in
            // Numbers near one another, with zeros before some and far away from others, so that rows repeat, and nearly so.
            let number = String(UInt64.random(in: 0...largest, using: &random))
            let zeros = String(repeating: "0", count: 19 - number.count)
            let before = ["", zeros, "9" + zeros][Int.random(in: 0..<3, using: &random)]
            return try #require(TransactionID(before + number))
        }
        let list = List(seed % 2 == 0 ? ids : ids.sorted(by: >))
        let distinct = Set(ids).count
        let capacity = Int.random(in: 4...200, using: &random)

        let counted = try DistinctIDs(capacity: capacity).count(list.feed)

        #expect(counted == (distinct, rows - distinct))
        // One more, because those far away are not counted together with the others.
        #expect((1...distinct / (capacity / 4 * 3) + 2).contains(list.readings))
        #expect(list.readings * capacity >= distinct)
    }

    @Test func `an ID is its digits, not the number they make`() throws {
        let nines = String(repeating: "9", count: 20)
        let texts = ["12", "012", "0012", "0", "00", "9", "10", "99", "100", "\(nines)", "1\(nines.dropFirst())"]
        for capacity in [4, 100] {
            let ids = try (texts + texts.reversed()).map { try #require(TransactionID($0)) }
            #expect(try DistinctIDs(capacity: capacity).count(List(ids).feed) == (texts.count, texts.count))
        }
    }

    @Test func `a list of few IDs is read once, however often it repeats them`() throws {
        let ids = try (0..<100_000).map { try #require(TransactionID("\(2_000_000_000_000_000 + $0 % 3)")) }
        let list = List(ids)
        #expect(try DistinctIDs(capacity: 4).count(list.feed) == (3, 99_997))
        #expect(list.readings == 1)
    }

    @Test func `a list with nothing in it has no IDs`() throws {
        #expect(try DistinctIDs(capacity: 4).count(List([]).feed) == (0, 0))
    }

    @Test(arguments: ["added", "gone", "replaced", "moved"])
    func `a list that changes between two readings is refused`(change: String) throws {
        var ids = try (0..<50).map { try #require(TransactionID("\($0)")) }
        let list = List(ids)
        switch change {
        case "added": ids.append(ids[0])
        case "gone": ids.removeLast()
        case "replaced": ids[0] = ids[1]
        default: ids.swapAt(3, 40)
        }
        let changed = ids
        let failure = try #require(throws: ListChanged.self) {
            _ = try DistinctIDs(capacity: 8).count { take in
                try (list.readings == 1 ? List(changed) : list).feed(take)
            }
        }
        #expect(Failure(failure).status == .badInput)
    }
}

/// Hands over a few IDs at a time, and counts how often it is asked for them.
private final class List: Sendable {
    private let ids: [TransactionID]
    private let asked = Mutex(0)

    init(_ ids: [TransactionID]) { self.ids = ids }

    var readings: Int { asked.withLock { $0 } }

    @Sendable func feed(_ take: ([TransactionID]) throws -> Void) throws {
        asked.withLock { $0 += 1 }
        for start in stride(from: 0, to: ids.count, by: 7) {
            try take(Array(ids[start..<min(start + 7, ids.count)]))
        }
    }
}
