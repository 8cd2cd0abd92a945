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

/// `changedSince`: the customers that a run requests, when, and how often.
@Suite(.migratedDatabase)
struct ChangedCustomerTests {
    private static let streams = "transactionHistory: {}, notificationHistory: {scope: app}"

    /// A job that follows notifications, in a separate ledger.
    private struct Scene {
        let world: TestLedger

        init() async throws { world = try await TestLedger() }

        func plan(
            _ since: String = "lastRun",
            now: UnixMilliseconds = Jobs.now,
            name: String = "nightly-sync",
            restart: Bool = false,
            streams: String = ChangedCustomerTests.streams
        ) async throws -> RunPlan {
            let job = try await Jobs.load(streams: streams, name: name, changedSince: since)
            return world.plan(job, now: now, restart: restart)
        }

        /// Files a notification about a purchase, a number of hours before ``Jobs/now``.
        func notify(
            _ original: String?,
            hoursAgo: Double,
            app: String? = nil,
            arrived: String = "now()",
            lateIn run: Int64? = nil
        ) async throws {
            let quoted = { (text: String?) in text.map { "'\($0)'" } ?? "NULL" }
            try await world.run(
                """
                INSERT INTO notifications (app_id, notification_uuid, original_transaction_id, transaction_id, app_transaction_id,
                                           signed_date, payload_sha256, payload, first_seen_at, late_run_id)
                VALUES (\(world.app.rawValue), gen_random_uuid(), \(quoted(original)), \(quoted(original)), \(quoted(app)),
                        \(moment(hoursAgo: hoursAgo)), '', '{}', \(arrived),
                        \(run.map(String.init) ?? "NULL"))
                """
            )
        }

        /// Files a purchase that came with the history of `listed`.
        func purchase(_ id: String, original: String, listed: String?, app: String? = nil) async throws {
            let quoted = { (text: String?) in text.map { "'\($0)'" } ?? "NULL" }
            try await world.run(
                """
                INSERT INTO transactions (app_id, transaction_id, original_transaction_id, listed_transaction_id, app_transaction_id,
                                          signed_date, payload_sha256, payload)
                VALUES (\(world.app.rawValue), '\(id)', '\(original)', \(quoted(listed)), \(quoted(app)), now(), '', '{}')
                """
            )
        }

        func moment(hoursAgo: Double) -> String {
            "to_timestamp(\(Double(Jobs.now.rawValue) / 1_000 - hoursAgo * 3_600))"
        }

        /// Begins a run and ends its notifications.
        func begin(_ plan: RunPlan) async throws -> StartedRun {
            let start = try await world.ledger.beginOrJoin(plan, ids: .none)
            try await endNotifications()
            return start
        }

        func endNotifications() async throws {
            try await world.run(
                """
                UPDATE crawl_items SET state = 'done', claimable_at = NULL, complete_until = window_end
                 WHERE stream = 'notificationHistory' AND state = 'waiting'
                """
            )
        }

        /// A whole run that finds every item's end; whom it asked for.
        @discardableResult
        func run(_ plan: RunPlan) async throws -> [String] {
            let start = try await begin(plan)
            _ = try await world.ledger.planChangedCustomers(plan, run: start.run)
            let asked = try await asked(start.run)
            try await end(start.run, plan)
            return asked
        }

        func asked(_ run: Int64) async throws -> [String] {
            try await world.rows(
                "SELECT item_key FROM crawl_items WHERE stream = 'transactionHistory' AND run_id = \(run) ORDER BY 1"
            ).map { $0.filter(\.isNumber) }
        }

        func end(_ run: Int64, _ plan: RunPlan) async throws {
            try await world.run(
                """
                UPDATE crawl_items SET state = 'done', claimable_at = NULL, cursor = 'R' || item_key,
                       complete_until = to_timestamp(\(plan.now.rawValue) / 1000.0)
                 WHERE run_id = \(run) AND state = 'waiting'
                """
            )
            _ = try await world.ledger.conclude(run, app: world.app, job: plan.job.name, exitCode: 0, message: nil)
        }
    }

    @Test func `customers are named once a run, after its notifications, however many processes ask`() async throws {
        let scene = try await Scene()
        let plan = try await scene.plan()
        let start = try await scene.world.ledger.beginOrJoin(plan, ids: .none)
        #expect(try await scene.asked(start.run) == [])
        #expect(try await scene.world.value("SELECT phase FROM runs") == "0")
        for id in ["11", "12", "12"] { try await scene.notify(id, hoursAgo: 5) }
        try await scene.endNotifications()

        let ledgers = try (0..<4).map { _ in try scene.world.anotherProcess() }
        let named = try await withThrowingTaskGroup(of: NamedCustomers?.self) { group in
            for ledger in ledgers { group.addTask { try await ledger.planChangedCustomers(plan, run: start.run) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(named.compactMap { $0?.planned } == [2])
        #expect(try await scene.asked(start.run) == ["11", "12"])
        #expect(try await scene.world.value("SELECT phase FROM runs") == "1")
        let joined = try await scene.world.ledger.beginOrJoin(plan, ids: .none)
        #expect(joined.run == start.run && joined.joined)
    }

    @Test func `a customer is requested under the ID and the cursor of earlier crawls`() async throws {
        let scene = try await Scene()
        // The customer's own ID, one purchase of several, and one that only the customer's number leads to.
        let first = try await scene.world.begin("transactionHistory: {}", ids: ["21", "22", "23"], now: .daysBefore(3))
        try await scene.world.finish(first.run)
        try await scene.world.run(
            "UPDATE crawl_items SET cursor = 'R' || item_key, complete_until = \(scene.moment(hoursAgo: 72))"
        )
        try await scene.purchase("220", original: "219", listed: "22")
        try await scene.purchase("230", original: "230", listed: "23", app: "A")
        for (id, app) in [("21", nil), ("219", nil), ("239", "A")] as [(String, String?)] {
            try await scene.notify(id, hoursAgo: 5, app: app)
        }
        let plan = try await scene.plan()

        #expect(try await scene.run(plan) == ["21", "22", "23"])
        // The same from another job, which has no cursor.
        try await scene.notify("219", hoursAgo: -20)
        let other = try await scene.plan(now: .daysAfter(1), name: "other")
        let start = try await scene.begin(other)
        _ = try await scene.world.ledger.planChangedCustomers(other, run: start.run)
        #expect(
            try await scene.world.rows(
                "SELECT item_key, cursor FROM crawl_items WHERE job = 'other' AND stream = 'transactionHistory'"
            ) == ["(22,R22)"]
        )
    }

    @Test func `purchases of one unknown customer are requested once`() async throws {
        let scene = try await Scene()
        for id in ["32", "31"] { try await scene.notify(id, hoursAgo: 5, app: "A") }
        try await scene.notify("33", hoursAgo: 5)
        try await scene.notify(nil, hoursAgo: 5, app: "B")
        try await scene.notify(nil, hoursAgo: 5)
        #expect(try await scene.run(scene.plan()) == ["31", "33"])
    }

    @Test func `a customer requested an hour after the notification is not requested again, one requested sooner is`()
        async throws
    {
        let scene = try await Scene()
        try await scene.notify("41", hoursAgo: 2)
        try await scene.notify("42", hoursAgo: 0.5)
        #expect(try await scene.run(scene.plan()) == ["41", "42"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(1))) == ["42"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(2))) == [])
        #expect(try await scene.run(scene.plan(now: .daysAfter(3), restart: true)) == ["41", "42"])
    }

    @Test func `a run that is superseded before or after it has named its customers loses none of them`() async throws {
        let scene = try await Scene()
        try await scene.run(scene.plan(now: .daysBefore(2)))
        try await scene.notify("51", hoursAgo: 30)
        let superseded = try await scene.plan(now: .daysBefore(1))
        _ = try await scene.begin(superseded)
        let second = try await scene.plan("-2d", now: .daysBefore(0.5))
        let start = try await scene.begin(second)
        #expect(try await scene.world.ledger.planChangedCustomers(superseded, run: start.run - 1) == nil)
        try await scene.notify("52", hoursAgo: 14)
        _ = try await scene.world.ledger.planChangedCustomers(second, run: start.run)
        #expect(try await scene.asked(start.run) == ["51", "52"])
        #expect(try await scene.run(scene.plan()) == ["51", "52"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(1))) == [])
    }

    @Test func `a failed item is requested again although no notification names it`() async throws {
        let scene = try await Scene()
        try await scene.notify("61", hoursAgo: 5)
        let plan = try await scene.plan()
        let start = try await scene.begin(plan)
        _ = try await scene.world.ledger.planChangedCustomers(plan, run: start.run)
        try await scene.world.run("UPDATE crawl_items SET state = 'failed', claimable_at = NULL WHERE item_key = '61'")
        try await scene.end(start.run, plan)
        #expect(try await scene.run(scene.plan(now: .daysAfter(300))) == ["61"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(301))) == [])
    }

    @Test
    func `refunds that a superseded run or a failed item has missed are requested although nothing names the customer`()
        async throws
    {
        let scene = try await Scene()
        let streams = Self.streams + ", refundHistory: {for: revoked}"
        /// The customers whose refunds a run requests after it has identified the changed customers.
        func refunds(_ plan: RunPlan, _ run: Int64) async throws -> [String] {
            _ = try await scene.world.ledger.planChangedCustomers(plan, run: run)
            #expect(try await scene.asked(run) == [])
            #expect(try await scene.world.ledger.planLastPhase(plan, run: run))
            return try await scene.world.rows(
                "SELECT item_key FROM crawl_items WHERE stream = 'refundHistory' AND run_id = \(run) ORDER BY 1"
            ).map { $0.filter(\.isNumber) }
        }
        try await scene.notify("65", hoursAgo: 60)
        let first = try await scene.plan(now: .daysBefore(2), streams: streams)
        let superseded = try await scene.begin(first)
        _ = try await scene.world.ledger.planChangedCustomers(first, run: superseded.run)
        try await scene.world.run(
            """
            UPDATE crawl_items SET state = 'done', claimable_at = NULL, complete_until = \(scene.moment(hoursAgo: 48)),
                   saw_revocation = true, refunds_due = true WHERE item_key = '65'
            """
        )

        let second = try await scene.plan("-1d", now: .daysBefore(1), streams: streams)
        let failing = try await scene.begin(second)
        #expect(failing.run != superseded.run)
        #expect(try await refunds(second, failing.run) == ["65"])
        try await scene.world.run(
            "UPDATE crawl_items SET state = 'failed', claimable_at = NULL WHERE stream = 'refundHistory'"
        )
        try await scene.end(failing.run, second)

        let third = try await scene.plan(streams: streams)
        let mending = try await scene.begin(third)
        #expect(try await refunds(third, mending.run) == ["65"])
        try await scene.end(mending.run, third)
        let fourth = try await scene.plan(now: .daysAfter(1), streams: streams)
        #expect(try await refunds(fourth, scene.begin(fourth).run) == [])
    }

    @Test func `notifications of a window that failed are followed when it comes at last`() async throws {
        let scene = try await Scene()
        try await scene.run(scene.plan(now: .daysBefore(9)))
        let plan = try await scene.plan(now: .daysBefore(3))
        let start = try await scene.world.ledger.beginOrJoin(plan, ids: .none)
        try await scene.world.run(
            """
            UPDATE crawl_items SET state = 'failed', claimable_at = NULL
             WHERE run_id = \(start.run) AND window_start = \(scene.moment(hoursAgo: 0)) - interval '9 days 1 hour'
            """
        )
        try await scene.endNotifications()
        _ = try await scene.world.ledger.planChangedCustomers(plan, run: start.run)
        try await scene.end(start.run, plan)
        #expect(
            try await scene.world.value("SELECT followed_until FROM runs WHERE run_id = \(start.run)")
                == scene.world.value("\(scene.moment(hoursAgo: 0)) - interval '9 days 1 hour'")
        )
        // As if it had come a long time ago, so that nothing but the window tells.
        try await scene.notify("71", hoursAgo: 9 * 24, arrived: "'2020-01-01'")
        #expect(try await scene.run(scene.plan()) == ["71"])
    }

    @Test func `a notification that a replay brings late is followed`() async throws {
        let scene = try await Scene()
        try await scene.run(scene.plan(now: .daysBefore(2)))
        try await scene.run(scene.plan(now: .daysBefore(1)))
        try await scene.notify("81", hoursAgo: 24 * 100)
        #expect(try await scene.run(scene.plan()) == ["81"])
    }

    @Test(arguments: [4_000_006, 4_000_008, 4_000_048, 4_040_001, 4_040_005, 4_040_010] as [Int64])
    func `an ID that Apple says does not exist is left to a retry, and counted apart`(unknown: Int64) async throws {
        let scene = try await Scene()
        for id in ["62", "63"] { try await scene.notify(id, hoursAgo: 5, arrived: scene.moment(hoursAgo: 4)) }
        let plan = try await scene.plan()
        let start = try await scene.begin(plan)
        _ = try await scene.world.ledger.planChangedCustomers(plan, run: start.run)
        let holder = scene.world.holder(of: start.run)
        for item in try await scene.world.take(.transactionHistory, 9, for: holder) {
            let code: Int64 = item.key == "62" ? unknown : 5_000_000
            try await scene.world.record(.failed(code: code, message: "x"), of: item, requests: 1, for: holder)
        }
        try await scene.end(start.run, plan)
        #expect(try await scene.run(scene.plan(now: .daysAfter(1))) == ["63"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(2))) == [])
        let status = try await scene.world.ledger.status(
            of: "nightly-sync",
            app: scene.world.app,
            bundleId: "com.example.game",
            environment: "Production",
            plan: scene.plan(now: .daysAfter(2))
        )
        #expect(status.unknownIds == 1 && status.failures == [] && status.retryable == 1)
    }

    @Test func `a customer whose record only a replay accepts is requested, once`() async throws {
        let scene = try await Scene()
        try await scene.run(scene.plan(now: .daysBefore(2)))
        try await scene.run(scene.plan(now: .daysBefore(1)))
        let replay = RowOrigin(
            app: scene.world.app,
            job: "nightly-sync",
            run: nil,
            stream: .notificationHistory,
            listedTransactionID: nil
        )
        let accepted = PageRows(
            Rows.snapshot(Tables.transactions, "841", cells: ["original_transaction_id": .text("84")])
        )
        #expect(try await scene.world.ledger.write(accepted, from: replay).new == 1)
        #expect(try await scene.world.ledger.write(accepted, from: replay).unchanged == 1)
        #expect(try await scene.world.count("changed_customers") == 1)
        #expect(try await scene.run(scene.plan()) == ["84"])
    }

    @Test func `a customer that only a second reading names is requested once more, even after later requests`()
        async throws
    {
        let scene = try await Scene()
        try await scene.notify("83", hoursAgo: 60)
        try await scene.notify("84", hoursAgo: 60)
        #expect(try await scene.run(scene.plan(now: .daysBefore(2))) == ["83", "84"])
        #expect(try await scene.run(scene.plan(now: .daysBefore(1))) == [])
        let plan = try await scene.plan()
        let start = try await scene.begin(plan)
        // Both histories were read after this date. Only one of the notifications came late, the other by a replay.
        try await scene.notify("83", hoursAgo: 55, lateIn: start.run)
        try await scene.notify("84", hoursAgo: 55)
        _ = try await scene.world.ledger.planChangedCustomers(plan, run: start.run)
        #expect(try await scene.asked(start.run) == ["83"])
        try await scene.end(start.run, plan)
        #expect(try await scene.run(scene.plan(now: .daysAfter(1))) == [])
    }

    @Test func `an overlap of days requests no customer more often`() async throws {
        let scene = try await Scene()
        let streams = "transactionHistory: {}, notificationHistory: {scope: app, overlap: 7d}"
        try await scene.notify("86", hoursAgo: 5)
        try await scene.notify("87", hoursAgo: 0.5)
        #expect(try await scene.run(scene.plan(streams: streams)) == ["86", "87"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(1), streams: streams)) == ["87"])
        #expect(try await scene.run(scene.plan(now: .daysAfter(2), streams: streams)) == [])
    }

    @Test func `a date selects every customer mentioned in notifications since, requested before or not`() async throws
    {
        let scene = try await Scene()
        try await scene.notify("91", hoursAgo: 30)
        try await scene.notify("92", hoursAgo: 10)
        try await scene.run(scene.plan())
        #expect(try await scene.run(scene.plan("-1d", now: .daysAfter(0.1))) == ["92"])
        #expect(try await scene.run(scene.plan("-2d", now: .daysAfter(0.2))) == ["91", "92"])
    }

    @Test func `only a first run that can miss customers says so`() async throws {
        let scene = try await Scene()
        try await scene.notify("95", hoursAgo: 5)
        let plan = try await scene.plan()
        let start = try await scene.begin(plan)
        #expect(start.remarks.contains { $0.hasPrefix("no run has requested a customer yet") })
        _ = try await scene.world.ledger.planChangedCustomers(plan, run: start.run)
        try await scene.end(start.run, plan)
        #expect(try await scene.begin(scene.plan(now: .daysAfter(1))).remarks == [])
    }

    @Test func `plan counts what an unfinished run has left`() async throws {
        let scene = try await Scene()
        try await scene.notify("98", hoursAgo: 5)
        try await scene.notify("99", hoursAgo: 5)
        let plan = try await scene.plan()
        let start = try await scene.world.ledger.beginOrJoin(plan, ids: .none)
        let windows = Int64(try await scene.world.count("crawl_items WHERE state = 'waiting'"))
        let reading = try await scene.world.ledger.changedSoFar(plan).unfinished
        #expect(windows > 100)
        #expect(
            reading?.run == start.run && reading?.customers == nil && reading?.left == [.notificationHistory: windows]
        )
        let unread = PlanReport(
            of: plan.job,
            ids: IDCount(distinct: 2, duplicates: 0),
            ownIds: [:],
            changed: try await scene.world.ledger.changedSoFar(plan),
            now: plan.now
        )
        #expect(unread.unfinishedRun == start.run && unread.transactionIds == nil)
        #expect(unread.streams.first { $0.stream == "notificationHistory" }?.items == Int(windows))

        try await scene.endNotifications()
        _ = try await scene.world.ledger.planChangedCustomers(plan, run: start.run)
        try await scene.world.run("UPDATE crawl_items SET state = 'done', claimable_at = NULL WHERE item_key = '98'")
        let known = try await scene.world.ledger.changedSoFar(plan).unfinished
        let left: [StreamName: Int64] = [.notificationHistory: 0, .transactionHistory: 1]
        #expect(known?.run == start.run && known?.customers == 2 && known?.left == left)

        // With other filters the next start begins a new run.
        let other = try await scene.plan(
            streams: "transactionHistory: {sort: DESCENDING}, notificationHistory: {scope: app}"
        )
        #expect(try await scene.world.ledger.changedSoFar(other).unfinished == nil)
        try await scene.end(start.run, plan)
        #expect(try await scene.world.ledger.changedSoFar(plan).unfinished == nil)
    }

    @Test(arguments: [("lastRun", "2025-11-29"), ("-7d", "2026-05-21")])
    func `a run that takes its customers from notifications is never one with a list, also with a date`(
        since: String,
        earliest: String
    ) async throws {
        let scene = try await Scene()
        let (ledger, app) = (scene.world.ledger, scene.world.app)
        for id in ["11", "12", "13"] { try await scene.notify(id, hoursAgo: 5) }
        var plan = try await scene.plan(since)
        plan.jobFile = JobFilePlace(path: "/jobs/nightly.yaml", host: "one")
        var copy = scene.world.plan(try await Jobs.load(streams: Self.streams, name: plan.job.name))
        copy.jobFile = JobFilePlace(path: "/jobs/copy.yaml", host: "two")
        func expectRefusal() async throws {
            let refusal = await #expect(throws: OtherJobFile.self) { try await ledger.checkJobFile(copy) }
            #expect(refusal?.difference == .transactionIDs)
        }
        // Before the customers are known.
        _ = try await ledger.beginOrJoin(plan, ids: .none)
        try await expectRefusal()
        #expect(try await ledger.customerSources(of: app) == CustomerSources(named: 0, largestList: 0))

        #expect(try await scene.run(plan) == ["11", "12", "13"])
        try await expectRefusal()
        #expect(try await ledger.customerSources(of: app) == CustomerSources(named: 3, largestList: 0))
        let status = try await ledger.status(
            of: plan.job.name,
            app: app,
            bundleId: "com.example.game",
            environment: "Production"
        )
        #expect(status.customersSince == earliest && status.largestList == nil)
    }

    @Test func `plan counts the requests of the run when no notification comes in between`() async throws {
        let scene = try await Scene()
        try await scene.notify("97", hoursAgo: 5)
        let plan = try await scene.plan()
        let before = try await scene.world.ledger.changedSoFar(plan)
        #expect(before.customers == 1 && before.followedUntil == nil && before.notificationsUntil == nil)
        #expect(try await scene.run(plan) == ["97"])
        let after = try await scene.world.ledger.changedSoFar(scene.plan(now: .daysAfter(1)))
        #expect(after.customers == 0 && after.followedUntil == Jobs.now && after.notificationsUntil == Jobs.now)
        // One day has become due for its second reading since.
        #expect(before.daysToReadAgain == 0 && after.daysToReadAgain == 1)
    }
}
