import AppStoreModel
import Ledger
import Planning
import Status
import Streams
import TestSupport
import Testing

/// Notifications, of the whole app in windows and of one ID at a time.
@Suite(.migratedDatabase)
struct WindowTests {
    static let week = "notificationHistory: {scope: app, startDate: -7d}"

    private func windows(_ world: TestLedger, run: Int64) async throws -> [Range<UnixMilliseconds>] {
        let items = try await world.take(.notificationHistory, 1_000, for: world.holder(of: run))
        // Of those that are read again, RereadingTests knows.
        return items.filter { $0.reading == .first }.compactMap(\.window).sorted { $0.lowerBound < $1.lowerBound }
    }

    private func gaps(_ world: TestLedger) async throws -> [String] {
        try await world.rows(
            """
            SELECT item_key, (extract(epoch FROM gap_start) * 1000)::bigint, (extract(epoch FROM gap_end) * 1000)::bigint
              FROM coverage_gaps ORDER BY gap_start, item_key
            """
        )
    }

    @Test func `the first run divides the requested span into windows without a gap`() async throws {
        let world = try await TestLedger()
        let start = try await world.begin(Self.week)
        let windows = try await windows(world, run: start.run)
        #expect(windows.first?.lowerBound == .daysBefore(7))
        #expect(windows.last?.upperBound == Jobs.now)
        #expect(windows.count == 8)
        for (earlier, later) in zip(windows, windows.dropFirst()) {
            #expect(earlier.upperBound == later.lowerBound)
        }
        #expect(try await gaps(world) == [])
    }

    @Test func `the next run begins an hour before the last window ended`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.week)
        try await world.finish(first.run)
        let second = try await world.begin(Self.week, now: Jobs.now + .seconds(1_800))
        let windows = try await windows(world, run: second.run)
        #expect(windows == [(Jobs.now - .seconds(3_600))..<(Jobs.now + .seconds(1_800))])
        #expect(second.remarks == [])
    }

    @Test func `windows that failed are taken up again with their token`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.week)
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        try await world.run("UPDATE crawl_items SET cursor = 'T' WHERE item_key = '\(item.key)'")
        try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        try await world.finish(first.run)
        let second = try await world.begin(Self.week, now: Jobs.now + .seconds(1_800))
        let again = try await world.take(.notificationHistory, 10, for: world.holder(of: second.run))
        #expect(again.count == 2)
        let failed = try #require(again.first { $0.key == item.key })
        #expect(failed.window == item.window && failed.cursor == "T" && failed.epoch == item.epoch + 1)
    }

    @Test func `a failed window that Apple no longer serves becomes a gap, once`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin("notificationHistory: {scope: app, startDate: -2h}")
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        let window = try #require(item.window)
        try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        try await world.finish(first.run)
        let streams = "notificationHistory: {scope: app, startDate: -2h}"
        let second = try await world.begin(streams, now: .daysAfter(181))
        #expect(second.remarks.count == 1)
        let expected = ["(\(item.key),\(window.lowerBound.rawValue),\(window.upperBound.rawValue))"]
        #expect(try await gaps(world).filter { $0.contains("..") } == expected)
        let summary = try await world.ledger.summary(of: second.run, app: world.app, job: "nightly-sync")
        #expect(summary.gaps == 2 && summary.hasLosses)
        try await world.finish(second.run)
        let third = try await world.begin(streams, now: .daysAfter(182))
        #expect(third.remarks == [])
    }

    @Test func `CK11 a job that rests longer than Apple remembers records what it missed`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.week)
        try await world.finish(first.run)
        let later = UnixMilliseconds.daysAfter(200)
        let second = try await world.begin(Self.week, now: later)
        let oldest = AppStoreEnvironment.production.oldestNotification(at: later)
        #expect(try await gaps(world) == ["(app,\(Jobs.now.rawValue),\(oldest.rawValue))"])
        #expect(second.remarks.count == 1)
        let windows = try await windows(world, run: second.run)
        #expect(windows.first?.lowerBound == oldest && windows.last?.upperBound == later)
    }

    @Test func `a start before Apple's reach is a gap, the default start is not`() async throws {
        let world = try await TestLedger()
        let start = try await world.begin("notificationHistory: {scope: app, startDate: 2025-01-01T00:00:00Z}")
        let oldest = AppStoreEnvironment.production.oldestNotification(at: Jobs.now)
        #expect(try await gaps(world) == ["(app,1735689600000,\(oldest.rawValue))"])
        #expect(start.remarks.count == 1)
        let other = try await Jobs.load(streams: "notificationHistory: {scope: app}", name: "other")
        let first = try await world.ledger.beginOrJoin(world.plan(other), ids: .none)
        #expect(first.remarks == [])
        #expect(try await world.count("coverage_gaps WHERE job = 'other'") == 0)
    }

    @Test func `an end in the past is requested once and leaves no gap however often the job runs`() async throws {
        let world = try await TestLedger()
        let streams =
            "notificationHistory: {scope: app, startDate: 2026-05-01T00:00:00Z, endDate: 2026-05-02T00:00:00Z}"
        for days in [0.0, 1, 300, 301] {
            let start = try await world.begin(streams, now: .daysAfter(days))
            try await world.finish(start.run)
        }
        #expect(try await gaps(world) == [])
        #expect(try await world.count("crawl_items WHERE window_end > '2026-05-02T00:00:00Z'") == 0)
    }

    @Test func `a restart requests the whole span again, in the same windows`() async throws {
        let world = try await TestLedger()
        let streams = "notificationHistory: {scope: app, startDate: 2026-05-20T00:00:00Z}"
        let first = try await world.begin(streams)
        try await world.run("UPDATE crawl_items SET cursor = 'T', window_start = window_start + interval '1 minute'")
        try await world.finish(first.run, cursor: "T")
        let items = try await world.count("crawl_items")
        let second = try await world.begin(streams, restart: true)
        #expect(try await world.count("crawl_items") == items)
        #expect(try await world.count("crawl_items WHERE cursor IS NULL AND run_id = \(second.run)") == items)
        #expect(try await windows(world, run: second.run).first?.lowerBound.rawValue == 1_779_235_200_000)
    }

    @Test func `a restart begins no later than the last window ended, so that no time is skipped`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.week)
        try await world.finish(first.run)
        let later = UnixMilliseconds.daysAfter(20)
        let second = try await world.begin(Self.week, now: later, restart: true)
        let windows = try await windows(world, run: second.run)
        #expect(windows.first?.lowerBound == Jobs.now - .seconds(3_600) && windows.last?.upperBound == later)
    }

    @Test func `a window of other filters is another item and leaves an unfinished one alone`() async throws {
        let world = try await TestLedger()
        let day = "startDate: 2026-05-20T00:00:00Z, endDate: 2026-05-21T00:00:00Z"
        let first = try await world.begin("notificationHistory: {scope: app, \(day)}")
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        try await world.finish(first.run)
        let second = try await world.begin("notificationHistory: {scope: app, \(day), onlyFailures: true}")
        try await world.finish(second.run)
        let third = try await world.begin("notificationHistory: {scope: app, \(day)}")
        let again = try await world.take(.notificationHistory, 9, for: world.holder(of: third.run))
        #expect(again.contains { $0.key == item.key })
    }

    @Test func `the next run requests what an ID's failed first window has missed`() async throws {
        let world = try await TestLedger()
        let streams = "notificationHistory: {scope: transactions, startDate: -7d}"
        let first = try await world.begin(streams, ids: ["1"])
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        try await world.finish(first.run)
        let second = try await world.begin(streams, ids: ["1"], now: .daysAfter(14))
        let again = try await world.take(.notificationHistory, 1, for: world.holder(of: second.run)).first
        #expect(again?.window == .daysBefore(7)..<(.daysAfter(14)))
    }

    @Test func `nothing is requested for an ID whose window is empty`() async throws {
        let world = try await TestLedger()
        let past = "startDate: 2024-01-01T00:00:00Z, endDate: 2024-02-01T00:00:00Z"
        let start = try await world.begin("notificationHistory: {scope: transactions, \(past)}", ids: ["1"])
        #expect(try await world.take(.notificationHistory, 1, for: world.holder(of: start.run)).isEmpty)
    }

    @Test func `other notification filters begin at the beginning of the span`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.week)
        try await world.finish(first.run)
        let second = try await world.begin("notificationHistory: {scope: app, startDate: -7d, onlyFailures: true}")
        #expect(try await windows(world, run: second.run).first?.lowerBound == .daysBefore(7))
    }

    @Test func `H04 a window that is clamped records the gap and begins again at its new start`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin("notificationHistory: {scope: app, startDate: -3h}")
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        let window = try #require(item.window)
        let newStart = window.lowerBound + .seconds(600)
        let plan = world.plan(try await Jobs.load(streams: "notificationHistory: {scope: app, startDate: -3h}"))
        let clamp = { (item: WorkItem) in
            try await world.record(
                .shortened(code: 4_000_012, message: "too far"),
                of: item,
                requests: 1,
                for: holder,
                plan: plan,
                now: newStart + AppStoreEnvironment.production.notificationReach - .seconds(600)
            )
        }
        #expect(try await clamp(item))
        #expect(try await !clamp(item))
        #expect(
            try await gaps(world) == ["(\(item.key),\(window.lowerBound.rawValue),\(newStart.rawValue))"]
        )
        let again = try await world.take(.notificationHistory, 10, for: holder).first { $0.key == item.key }
        #expect(again?.window == newStart..<window.upperBound && again?.restarts == 1)
    }

    @Test func `notifications that Apple drops during a run for the full history are not a gap`() async throws {
        let world = try await TestLedger()
        let job = try await Jobs.load(streams: "notificationHistory: {scope: transactions}")
        let plan = world.plan(job)
        let first = try await world.ledger.beginOrJoin(
            plan,
            ids: .feed { try $0(["1"]) }
        )
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1, for: holder).first)
        #expect(plan.startsAtOldestServedDate(item))
        let newStart = AppStoreEnvironment.production.oldestNotification(at: .daysAfter(1))
        try await world.record(
            .shortened(code: 4_000_012, message: "too far"),
            of: item,
            requests: 1,
            for: holder,
            plan: plan,
            now: .daysAfter(1)
        )
        #expect(try await gaps(world) == [])
        #expect(try await world.take(.notificationHistory, 1, for: holder).first?.window?.lowerBound == newStart)
    }

    // One ID at a time.

    static let perID = "transactionHistory: {}, notificationHistory: {scope: transactions, startDate: -7d}"

    @Test func `an ID's next window begins an hour before its last was complete, a new ID's at the requested start`()
        async throws
    {
        let world = try await TestLedger()
        let first = try await world.begin(Self.perID, ids: ["1"])
        try await world.finish(first.run)
        let later = UnixMilliseconds.daysAfter(1)
        let second = try await world.begin(Self.perID, ids: ["1", "2"], now: later)
        let holder = world.holder(of: second.run)
        let items = try await world.take(.notificationHistory, 10, for: holder).sorted { $0.key < $1.key }
        #expect(items.map(\.window) == [(Jobs.now - .seconds(3_600))..<later, (later - .seconds(7 * 86_400))..<later])
        #expect(items.allSatisfy { $0.cursor == nil })
        let histories = try await world.take(.transactionHistory, 10, for: holder)
        #expect(histories.allSatisfy { $0.window == nil })
        #expect(
            try await world.count("crawl_items WHERE stream = 'transactionHistory' AND window_start IS NOT NULL") == 0
        )
    }

    @Test func `an ID complete only before Apple's reach records its gap`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.perID, ids: ["1"])
        try await world.finish(first.run)
        let later = UnixMilliseconds.daysAfter(200)
        let second = try await world.begin(Self.perID, ids: ["1", "2"], now: later)
        let oldest = AppStoreEnvironment.production.oldestNotification(at: later)
        #expect(try await gaps(world) == ["(1,\(Jobs.now.rawValue),\(oldest.rawValue))"])
        #expect(second.remarks.count == 1)
        let items = try await world.take(.notificationHistory, 10, for: world.holder(of: second.run))
        #expect(items.first { $0.key == "1" }?.window == oldest..<later)
    }

    @Test func `a start before Apple's reach is a gap of every ID that was never complete`() async throws {
        let world = try await TestLedger()
        let streams =
            "notificationHistory: {scope: transactions, startDate: 2025-01-01T00:00:00Z}, transactionHistory: {}"
        let first = try await world.begin(streams, ids: ["1"])
        let oldest = AppStoreEnvironment.production.oldestNotification(at: Jobs.now).rawValue
        #expect(try await gaps(world) == ["(1,1735689600000,\(oldest))"])
        #expect(first.remarks.count == 1)
        try await world.finish(first.run)
        let second = try await world.begin(streams, ids: ["1"], now: .daysAfter(1))
        #expect(second.remarks == [])
        let lines = Collected<ItemCoverage>()
        try await world.ledger.coverage(of: "nightly-sync", app: world.app) {
            lines.append($0); return true
        }
        #expect(lines.all.map(\.gaps) == [["2025-01-01T00:00:00Z/2025-11-29T20:36:40Z"], []])
    }
}
