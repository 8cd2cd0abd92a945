import AppStoreModel
import FoundationEssentials
import Planning
import Streams
import TestSupport
import Testing

/// Runs that began while PostgreSQL's clock was ahead, after it was set right.
@Suite(.migratedDatabase)
struct FutureRunTests {
    private static let day = Duration.seconds(86_400)
    private static let week = "notificationHistory: {scope: app, startDate: -7d}"
    private static let everything = "notificationHistory: {scope: app, startDate: lastRun}"

    private let now = UnixMilliseconds(rawValue: Int64(Date.now.timeIntervalSince1970 * 1_000))

    /// The first readings that a run has to do, from the first to the last, joined where they touch or overlap.
    private func span(_ world: TestLedger, run: Int64) async throws -> [Range<UnixMilliseconds>] {
        let items = try await world.take(.notificationHistory, 1_000, for: world.holder(of: run))
        let windows = items.filter { $0.reading == .first }.compactMap(\.window)
            .sorted { $0.lowerBound < $1.lowerBound }
        return windows.reduce(into: []) { spans, window in
            guard let last = spans.last, last.upperBound >= window.lowerBound else { return spans.append(window) }
            spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, window.upperBound)
        }
    }

    @Test(arguments: [false, true])
    func `CK13 a run that replaces one from the future plans from the last real window to now`(
        restarts: Bool
    ) async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.week, now: now - Self.day)
        try await world.finish(first.run)
        let ahead = try await world.begin(Self.week, now: now + Self.day * 3)
        // One of its windows was even read.
        let holder = world.holder(of: ahead.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        try await world.run(
            "UPDATE crawl_items SET state = 'done', claimable_at = NULL WHERE item_key = '\(item.key)'"
        )

        let next = try await world.begin(Self.week, now: now, restart: restarts)
        #expect(next.run != ahead.run && !next.joined)
        #expect(next.remarks.contains { $0.contains("began while PostgreSQL's clock was ahead") })
        let begin = restarts ? now - Self.day * 7 : now - Self.day - .seconds(3_600)
        #expect(try await span(world, run: next.run) == [begin..<now])
        let later = try await world.rows("SELECT item_key FROM crawl_items WHERE window_end > clock_timestamp()")
        #expect(later == [])
    }

    @Test func `CK13 a first run from the future leaves nothing out at the beginning`() async throws {
        let world = try await TestLedger()
        _ = try await world.begin(Self.everything, now: now + Self.day * 3)
        let next = try await world.begin(Self.everything, now: now)
        let oldest = AppStoreEnvironment.production.oldestNotification(at: now)
        #expect(try await span(world, run: next.run) == [oldest..<now])
    }

    @Test func `CK13 a gap that a run from the future recorded ends where Apple's notifications begin`() async throws {
        let world = try await TestLedger()
        let end = now - Self.day * 190
        let first = try await world.begin(Self.everything, now: end)
        try await world.finish(first.run)
        _ = try await world.begin(Self.everything, now: now + Self.day * 3)
        let next = try await world.begin(Self.everything, now: now)
        let oldest = AppStoreEnvironment.production.oldestNotification(at: now)
        #expect(
            try await world.rows(
                "SELECT (extract(epoch FROM gap_start) * 1000)::bigint, (extract(epoch FROM gap_end) * 1000)::bigint FROM coverage_gaps"
            ) == ["(\(end.rawValue),\(oldest.rawValue))"]
        )
        #expect(try await span(world, run: next.run) == [oldest..<now])
    }

    @Test func `CK13 customers whom a run from the future has read are requested again`() async throws {
        let world = try await TestLedger()
        let histories = "transactionHistory: {}"
        let ahead = try await world.begin(histories, ids: ["1", "2"], now: now + Self.day * 3)
        let holder = world.holder(of: ahead.run)
        let item = try #require(try await world.take(.transactionHistory, 1, for: holder).first)
        try await world.run(
            """
            UPDATE crawl_items SET state = 'done', claimable_at = NULL, lease_owner = NULL, cursor = 'R',
                   complete_until = (SELECT max(frozen_now) FROM runs)
             WHERE item_key = '\(item.key)'
            """
        )
        let next = try await world.begin(histories, ids: ["1", "2"], now: now)
        let again = try await world.take(.transactionHistory, 10, for: world.holder(of: next.run))
        #expect(again.count == 2)
        #expect(again.first { $0.key == item.key }?.cursor == "R")
        #expect(try await world.rows("SELECT count(*) FROM crawl_items WHERE complete_until IS NOT NULL") == ["(0)"])
    }

    @Test func `CK13 retry leaves a run from the future to the next run`() async throws {
        let world = try await TestLedger()
        let ahead = try await world.begin("transactionHistory: {}", ids: ["1"], now: now + Self.day)
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"), now: now)
        await #expect(throws: NothingToRetry.runIsFromTheFuture(run: ahead.run)) {
            try await world.ledger.retryFailed(plan)
        }
    }

    @Test func `CK13 items that were postponed on a clock that was ahead are free for the next process`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin("transactionHistory: {}", ids: ["1", "2"], now: now)
        try await world.run("UPDATE crawl_items SET claimable_at = clock_timestamp() + interval '2 days'")
        let next = try await world.begin("transactionHistory: {}", now: now)
        #expect(next.joined && next.run == first.run)
        #expect(try await world.take(.transactionHistory, 10, for: world.holder(of: first.run)).count == 2)
    }
}
