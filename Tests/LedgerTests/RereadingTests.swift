import AppStoreModel
import JobFiles
import Ledger
import LedgerSchema
import Planning
import Postgres
import Status
import Streams
import TestSupport
import Testing

/// Notifications that are read again: failed deliveries, and each closed day once more.
@Suite(.migratedDatabase)
struct RereadingTests {
    private static let nightly = "notificationHistory: {scope: app, startDate: lastRun}"
    private static let day: Int64 = 86_400_000

    /// The windows of a run that are of one kind, in their order.
    private func windows(
        _ reading: WindowReading,
        of run: Int64,
        _ world: TestLedger
    ) async throws -> [Range<UnixMilliseconds>] {
        try await world.take(.notificationHistory, 1_000, for: world.holder(of: run))
            .filter { $0.reading == reading }.compactMap(\.window).sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Runs a job to its end each time; the second readings of every run.
    private func secondReadings(
        _ streams: String = nightly,
        after hours: [Double],
        _ world: TestLedger
    ) async throws -> [[Range<UnixMilliseconds>]] {
        var found: [[Range<UnixMilliseconds>]] = []
        for hour in hours {
            let start = try await world.begin(streams, now: .daysAfter(hour / 24))
            found.append(try await windows(.second, of: start.run, world))
            try await world.finish(start.run, cursor: nil)
        }
        return found
    }

    private static func wholeDay(endingDaysAgo days: Int64) -> Range<UnixMilliseconds> {
        let end = (Jobs.now.rawValue / day - days + 1) * day
        return UnixMilliseconds(rawValue: end - day)..<UnixMilliseconds(rawValue: end)
    }

    @Test func `each closed day is read once more, seven days after it closed, and only once`() async throws {
        let world = try await TestLedger()
        let found = try await secondReadings(after: (0...20).map { Double($0) * 24 }, world)
        // The first run has read every day before as it is for good.
        #expect(found[0] == [])
        for night in 1...20 {
            #expect(found[night] == [Self.wholeDay(endingDaysAgo: 8 - Int64(night))], "night \(night)")
        }
        // Two windows since the night before, the failed deliveries, and one day: what plan counts.
        let last = try await world.count("crawl_items WHERE run_id = (SELECT max(run_id) FROM runs)")
        #expect(last == 4)
    }

    @Test func `a job that runs every hour reads a day for the second time no more often`() async throws {
        let world = try await TestLedger()
        let found = try await secondReadings(after: (0...96).map { Double($0) * 2 }, world)
        // Seven days have closed since, and the days of the week before the first run are due with them.
        #expect(found.flatMap(\.self).count == 8)
        #expect(Set(found.flatMap(\.self)).count == 8)
        #expect(found.allSatisfy { $0.count <= 1 })
    }

    @Test func `days of a paused job are read again when it continues, and days that it reads late are not`()
        async throws
    {
        let world = try await TestLedger()
        let found = try await secondReadings(after: [0, 30 * 24, 31 * 24, 32 * 24], world)
        // Whole days of the first run's last week; its last day waits for the part of it that the second run reads.
        #expect(found[1] == (1...7).reversed().map { Self.wholeDay(endingDaysAgo: $0) })
        #expect(found[2].first == Self.wholeDay(endingDaysAgo: 0))
        #expect(found[2].dropFirst() == [Self.wholeDay(endingDaysAgo: -23)])
        #expect(found[3] == [Self.wholeDay(endingDaysAgo: -24)])
    }

    @Test func `a day that begins where the job began is read again from there`() async throws {
        let world = try await TestLedger()
        let found = try await secondReadings(
            "notificationHistory: {scope: app, startDate: -6d}",
            after: [0, 24 * 2, 24 * 3],
            world
        )
        #expect(found[1] == [.daysBefore(6)..<Self.wholeDay(endingDaysAgo: 6).upperBound])
        #expect(found[2] == [Self.wholeDay(endingDaysAgo: 5)])
    }

    @Test func `a second reading that failed or was superseded is taken up by the next run, and by retry`() async throws
    {
        let world = try await TestLedger()
        _ = try await secondReadings(after: [0], world)
        let second = try await world.begin(Self.nightly, now: .daysAfter(1))
        let holder = world.holder(of: second.run)
        let items = try await world.take(.notificationHistory, 10, for: holder)
        let item = try #require(items.first { $0.reading == .second })
        try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        try await world.finish(second.run, cursor: nil)
        let plan = world.plan(try await Jobs.load(streams: Self.nightly), now: .daysAfter(1.2))
        let retried = try await world.ledger.retryFailed(plan)
        #expect(try await windows(.second, of: retried.run, world) == [item.window])

        let third = try await world.begin(Self.nightly, now: .daysAfter(2), restart: true)
        let all = try await world.take(.notificationHistory, 1_000, for: world.holder(of: third.run))
        #expect(all.filter { $0.reading == .second }.map(\.key) == [item.key])
        #expect(try await world.count("crawl_items WHERE item_key LIKE '%+second'") == 1)
    }

    @Test func `a second reading that Apple no longer serves is a gap, and a gap alone`() async throws {
        let world = try await TestLedger()
        _ = try await secondReadings(after: [0], world)
        let second = try await world.begin(Self.nightly, now: .daysAfter(1))
        let holder = world.holder(of: second.run)
        for item in try await world.take(.notificationHistory, 10, for: holder) where item.reading != .first {
            try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        }
        try await world.finish(second.run, cursor: nil)
        _ = try await world.begin(Self.nightly, now: .daysAfter(190))
        #expect(
            try await world.rows("SELECT reason FROM coverage_gaps WHERE item_key <> 'app'")
                == ["(\"the day was read once, and its second reading was not finished while Apple served it\")"]
        )
    }

    @Test func `days out of Apple's reach are not read again`() async throws {
        let world = try await TestLedger()
        let found = try await secondReadings(after: [0, 24 * 200], world)
        #expect(found == [[], []])
    }

    @Test func `a day whose first reading has failed is read again only after that one is done`() async throws {
        let world = try await TestLedger()
        _ = try await secondReadings(after: [0], world)
        let day = Self.wholeDay(endingDaysAgo: 7)
        try await world.run(
            "UPDATE crawl_items SET state = 'failed' WHERE window_start = to_timestamp(\(day.lowerBound.rawValue) / 1000)"
        )
        // Its first reading, late enough to be final, is the only one.
        let found = try await secondReadings(after: [24, 48], world)
        #expect(found == [[], [Self.wholeDay(endingDaysAgo: 6)]])
    }

    @Test(arguments: [("0m", 0), ("90m", 5_400), ("2d", 172_800)] as [(String, Int64)])
    func `overlap says how far before the last window's end the next one begins`(overlap: String, seconds: Int64)
        async throws
    {
        let world = try await TestLedger()
        let app = "notificationHistory: {scope: app, startDate: lastRun, overlap: \(overlap)}"
        let each = "notificationHistory: {scope: transactions, startDate: lastRun, overlap: \(overlap)}"
        for (streams, ids) in [(app, []), (each, ["1"])] {
            let first = try await world.begin(streams, ids: ids)
            try await world.finish(first.run, cursor: nil)
            let second = try await world.begin(streams, ids: ids, now: .daysAfter(0.1))
            let windows = try await windows(.first, of: second.run, world)
            #expect(windows.first?.lowerBound == Jobs.now - .seconds(seconds))
            #expect(windows.last?.upperBound == .daysAfter(0.1))
            try await world.finish(second.run, cursor: nil)
        }
    }

    @Test func `a nightly run reads failed deliveries of seven days again, as one item that moves on`() async throws {
        let world = try await TestLedger()
        for night in [0.0, 1, 2, 12] {
            let now = UnixMilliseconds.daysAfter(night)
            let start = try await world.begin(Self.nightly, now: now)
            let items = try await world.take(.notificationHistory, 1_000, for: world.holder(of: start.run))
            let failures = items.filter { $0.reading == .failures }
            switch night {
            case 1, 2:
                let from = now - WindowReading.failuresReach
                #expect(failures.map(\.window) == [from..<(.daysAfter(night - 1) - .seconds(3_600))])
                #expect(failures[0].cursor == nil)
                let job = try await Jobs.load(streams: Self.nightly)
                let stream = try #require(job.streams[NotificationHistory.self])
                let other = try #require(items.first { $0.reading == .first })
                let bodies = [failures[0], other].compactMap { stream.request(for: $0, now: now)?.body }
                let requestsFailures = bodies.map { String(decoding: $0, as: UTF8.self).contains("onlyFailures") }
                #expect(requestsFailures == [true, false])
            default:
                // Nothing read before, or nothing of seven days: the run's own windows reach back as far.
                #expect(failures.isEmpty, "night \(night)")
            }
            try await world.finish(start.run)
        }
        #expect(try await world.count("crawl_items WHERE item_key LIKE 'failures#%'") == 1)
    }

    @Test func `the requests of a run follow from its own windows, not from those that are read again`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.nightly)
        try await world.finish(first.run)
        let second = try await world.begin(Self.nightly, now: .daysAfter(9))
        let holder = world.holder(of: second.run)
        for item in try await world.take(.notificationHistory, 1_000, for: holder) where item.reading != .first {
            try await world.record(.failed(code: 500, message: "no"), of: item, requests: 5, for: holder)
        }
        try await world.finish(second.run)
        let third = try await world.begin(Self.nightly, now: .daysAfter(10))
        let own = try await windows(.first, of: third.run, world)
        #expect(own.first?.lowerBound == .daysAfter(9) - .seconds(3_600))
        #expect(try await world.count("coverage_gaps") == 0)
    }

    // What the pages bring.

    /// A page of notifications of a run's item, answered at a moment.
    private func commit(
        _ uuids: [String],
        attempts: [Row] = [],
        of item: WorkItem,
        readAt: UnixMilliseconds = Jobs.now,
        for holder: LeaseHolder,
        _ world: TestLedger
    ) async throws {
        var rows = PageRows()
        rows.snapshots = uuids.map { Rows.snapshot(Tables.notifications, $0) }
        rows.sendAttempts = attempts
        let commit = PageCommit(
            item: item,
            holder: holder,
            rows: rows,
            origin: RowOrigin(
                app: world.app,
                job: holder.job,
                run: holder.run,
                stream: item.stream,
                listedTransactionID: nil,
                readAt: readAt,
                isSecondReading: item.reading == .second
            ),
            cursor: nil,
            isLast: true,
            completeUntil: nil,
            requests: 1
        )
        #expect(try await world.ledger.commit(commit) != nil)
    }

    @Test func `what only the second reading finds came late, and status says so`() async throws {
        let world = try await TestLedger()
        let job = try await Jobs.load(streams: Self.nightly)
        let status = {
            try await world.ledger.status(
                of: job.name,
                app: world.app,
                bundleId: "com.example.game",
                environment: "Production"
            )
        }
        let first = try await world.begin(Self.nightly)
        let holder = world.holder(of: first.run)
        let item = try #require(try await world.take(.notificationHistory, 1_000, for: holder).first)
        try await commit(["in-time"], of: item, for: holder, world)
        try await world.finish(first.run, cursor: nil)
        #expect(try await status().late == nil)
        var runs: [Int64] = []
        for (night, uuids) in [(1.0, ["in-time", "late-1", "late-2"]), (2, ["late-1"]), (3, ["late-3"])] {
            let start = try await world.begin(Self.nightly, now: .daysAfter(night))
            runs.append(start.run)
            let holder = world.holder(of: start.run)
            let items = try await world.take(.notificationHistory, 10, for: holder)
            let second = try #require(items.first { $0.reading == .second })
            try await commit(uuids, of: second, for: holder, world)
            // New in a window that was not read before, so it is not late.
            let own = try #require(items.first { $0.reading == .first })
            try await commit(["new-\(night)"], of: own, for: holder, world)
            try await world.finish(start.run, cursor: nil)
        }
        #expect(
            try await world.rows(
                "SELECT notification_uuid, late_run_id FROM notifications WHERE late_run_id IS NOT NULL ORDER BY 1"
            ) == ["(late-1,\(runs[0]))", "(late-2,\(runs[0]))", "(late-3,\(runs[2]))"]
        )
        let late = try #require(try await status().late)
        #expect(late.notifications == 3 && late.run == runs[2] && late.inRun == 1)
        #expect(late.example == "late-3" && late.signedAt == "2026-05-28T20:26:39Z")
        // A job of another name has found nothing late.
        let other = try await world.ledger.status(
            of: "other",
            app: world.app,
            bundleId: "com.example.game",
            environment: "Production"
        )
        #expect(other.late == nil)
    }

    @Test func `when failed attempts were read is noted, and renewed once they are final`() async throws {
        let world = try await TestLedger()
        let start = try await world.begin(Self.nightly)
        let holder = world.holder(of: start.run)
        var items = try await world.take(.notificationHistory, 1_000, for: holder)
        let sent = UnixMilliseconds.daysBefore(1).rawValue
        let page = [
            Rows.attempt("failing", sent, "TIMED_OUT"), Rows.attempt("failing", sent + 3_600_000, "OTHER"),
            Rows.attempt("delivered", sent, "TIMED_OUT"), Rows.attempt("delivered", sent + 3_600_000, "SUCCESS"),
        ]
        let readings = {
            try await world.rows(
                """
                SELECT notification_uuid, count(*), count(read_at), (extract(epoch FROM max(read_at)) * 1000)::bigint
                  FROM notification_send_attempts GROUP BY 1 ORDER BY 1
                """
            )
        }
        func read(_ moment: UnixMilliseconds) async throws {
            try await commit(
                ["failing", "delivered"],
                attempts: page,
                of: items.removeFirst(),
                readAt: moment,
                for: holder,
                world
            )
        }
        try await read(Jobs.now)
        #expect(try await readings() == ["(delivered,2,0,)", "(failing,2,2,\(Jobs.now.rawValue))"])
        // Before Apple has given up, and after that for the second time, nothing is written.
        let final = UnixMilliseconds(rawValue: sent) + WindowReading.retryTime
        for (moment, writes) in [(final - .seconds(1), false), (final, true), (final + .seconds(9), false)] {
            let before = try await world.rowVersions()
            try await read(moment)
            #expect(try await (world.rowVersions() != before) == writes, "\(moment)")
        }
        #expect(try await readings() == ["(delivered,2,0,)", "(failing,2,2,\(final.rawValue))"])
    }
}
