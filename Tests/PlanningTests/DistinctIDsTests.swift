import AppStoreModel
import TestSupport
import Testing

@testable import Planning

/// How the IDs of a list are counted.
struct DistinctIDsTests {
    @Test(arguments: 0..<40)
    func `a list's IDs are counted as a set counts them, as long as they fit`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let rows = Int.random(in: 0...2_000, using: &random)
        let largest = UInt64.random(in: 1...2_000, using: &random)
        let ids = (0..<rows).map { _ in
            // Numbers near one another, with zeros before some and far away from others, so that rows repeat, and nearly so.
            let number = String(UInt64.random(in: 0...largest, using: &random))
            let zeros = String(repeating: "0", count: 19 - number.count)
            let before = ["", zeros, "9" + zeros][Int.random(in: 0..<3, using: &random)]
            return before + number
        }
        let distinct = Set(ids).count

        let counted = try DistinctIDs(capacity: max(1, distinct)).count(feed(ids))

        #expect(counted == IDCount(distinct: distinct, duplicates: rows - distinct))
    }

    @Test func `IDs that repeat anywhere in a long list are counted once`() throws {
        var random = SeededRandom(seed: 1)
        let ids = (0..<180_000).map { "\(2_000_000_000_000_000 + $0 % 120_000)" }.shuffled(using: &random)
        let counted = try DistinctIDs().count(feed(ids))
        #expect(counted == IDCount(distinct: 120_000, duplicates: 60_000))
    }

    @Test func `a list with more IDs than fit is estimated within a few standard errors`() throws {
        // Each ID twice; the sample has 2,000 to 4,000 of them, so one standard error is 1.6 to 2.2 per cent.
        for first in [2_000_000_000_000_000, 70_000_000_000] {
            let ids = (0..<100_000).map { "\(first + $0 % 50_000)" }
            let counted = try DistinctIDs(capacity: 4_000).count(feed(ids))
            #expect(counted.isEstimate)
            #expect((45_000...55_000).contains(counted.distinct), "\(counted)")
            #expect(counted.distinct + counted.duplicates == 100_000)
        }
    }

    @Test func `an ID is its digits, not the number they make`() throws {
        let nines = String(repeating: "9", count: 20)
        let texts = ["12", "012", "0012", "0", "00", "9", "10", "99", "100", "\(nines)", "1\(nines.dropFirst())"]
        let ids = texts + texts.reversed()
        let counted = try DistinctIDs().count(feed(ids))
        #expect(counted == IDCount(distinct: texts.count, duplicates: texts.count))
    }

    @Test func `a list with nothing in it has no IDs`() throws {
        #expect(try DistinctIDs().count(feed([])) == IDCount(distinct: 0, duplicates: 0))
    }

    /// Hands over a few IDs at a time.
    private func feed(_ ids: [String]) -> @Sendable (([String]) throws -> Void) throws -> Void {
        { take in
            for start in stride(from: 0, to: ids.count, by: 7) {
                try take(Array(ids[start..<min(start + 7, ids.count)]))
            }
        }
    }
}
