import AppStoreModel
import FoundationEssentials
import Ledger
import LedgerSchema
import Planning
import RateLimit
import Status
import Streams
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct ReportTests {
    private func status(_ world: TestLedger, plan: RunPlan? = nil) async throws -> JobStatus {
        try await world.ledger.status(
            of: "nightly-sync",
            app: world.app,
            bundleId: "com.example.game",
            environment: "Production",
            plan: plan
        )
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func `a job that never ran has an empty status`() async throws {
        let world = try await TestLedger()
        let status = try await status(world)
        #expect(status.runs == [] && status.items == [] && status.failures == [] && status.gaps == [])
        #expect(try await world.ledger.jobs(of: world.app) == [])
    }

    @Test func `status shows runs, items, failures, rejects, gaps and the spent budget`() async throws {
        let world = try await TestLedger()
        let (leased, holder) = try await world.leased(["1", "2", "3", "4"])
        var rows = PageRows(Rows.transaction("10"))
        rows.rejected = [
            Rows.rejected("a"), Rows.rejected("b", hash: 2), Rows.rejected("c", reason: "bundle", hash: 3),
        ]
        _ = try await world.ledger.commit(world.page(rows, of: leased[0], for: holder, isLast: true))
        for item in leased[1...2] {
            try await world.record(.failed(code: 7, message: "gone"), of: item, requests: 1, for: holder)
        }
        try await world.run(
            """
            INSERT INTO coverage_gaps VALUES (\(world.app.rawValue), 'nightly-sync', 'notificationHistory', 'app',
                '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'old', \(holder.run))
            """
        )
        let share = PostgresRateLedger.Share(requestsPerSecond: 1, window: .hour)
        let budget = PostgresRateLedger(
            pool: world.ledger.control,
            app: world.app,
            shares: [.transactionHistory: share]
        )
        _ = try await budget.take(.transactionHistory, atMost: 1)
        try await budget.close(.transactionHistory, for: .seconds(3_600))
        try await world.run("UPDATE rate_scopes SET closed_until = '2100-01-01T00:00:00Z'")
        _ = try await world.ledger.conclude(
            holder.run,
            app: world.app,
            job: holder.job,
            exitCode: 75,
            message: "stopped by SIGTERM"
        )

        let status = try await status(world)
        let run = try #require(status.runs.first)
        #expect(status.runs.count == 1 && run.run == holder.run && run.finishedAt == nil && run.exitCode == 75)
        #expect(run.message == "stopped by SIGTERM" && run.pages == 1 && run.requests == 3 && run.rowsNew == 1)
        #expect(run.recordsRejected == 3 && run.itemsFailed == 2 && run.gaps == 1)
        let items = #"[{"done":1,"failed":2,"leased":1,"stream":"transactionHistory","waiting":0}]"#
        #expect(try json(status.items) == items)
        let failures =
            #"[{"errorCode":7,"example":"2","items":2,"message":"gone","run":\#(holder.run),"stream":"transactionHistory"}]"#
        #expect(try json(status.failures) == failures)
        #expect(status.retryable == nil)
        #expect(status.rejected.map(\.reason) == ["signature", "bundle"])
        #expect(status.rejected.map(\.records) == [2, 1])
        let gaps =
            #"[{"from":"2026-01-01T00:00:00Z","item":"app","reason":"old","stream":"notificationHistory","to":"2026-01-02T00:00:00Z"}]"#
        #expect(try json(status.gaps) == gaps)
        #expect(status.budget.map(\.endpoint) == ["transactionHistory"])
        #expect(status.budget.map(\.lastHour) == [1])
        #expect(status.budget.map(\.closedUntil) == ["2100-01-01T00:00:00Z"])
    }

    @Test func `status names what failed in any run, and counts what a retry then takes up`() async throws {
        let world = try await TestLedger()
        let both = "transactionHistory: {}, refundHistory: {for: all}"
        let (items, holder) = try await world.leased(["1", "2", "3"], streams: both)
        for item in items {
            try await world.record(.failed(code: 7, message: "gone"), of: item, requests: 1, for: holder)
        }
        try await world.finish(holder.run)
        // 1 and 2 are not listed any more, and 3 succeeds.
        let second = try await world.begin(both, ids: ["3"], now: .daysAfter(1))
        try await world.finish(second.run)

        let plan = world.plan(try await Jobs.load(streams: both), now: .daysAfter(1))
        let status = try await status(world, plan: plan)
        #expect(status.items.allSatisfy { $0.failed == 0 })
        #expect(status.failures.map(\.run) == [holder.run] && status.failures.map(\.items) == [2])
        #expect(status.retryable == 2)
        // With other filters there is nothing of theirs to go on with.
        let other = world.plan(
            try await Jobs.load(streams: "transactionHistory: {revoked: true}, refundHistory: {for: all}"),
            now: .daysAfter(1)
        )
        #expect(try await self.status(world, plan: other).retryable == 0)
        await #expect(throws: NothingToRetry.noneFailed) { try await world.ledger.retryFailed(other) }

        _ = try await world.ledger.retryFailed(plan)
        #expect(try await world.count("crawl_items WHERE state = 'waiting'") == 2)
        let after = try await self.status(world, plan: plan)
        #expect(after.failures == [] && after.retryable == 0)
    }

    @Test func `coverage names every item in order, however many`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let start = try await world.ledger.beginOrJoin(plan, ids: .query("SELECT generate_series(1, 2500)"))
        let item = try #require(try await world.take(.transactionHistory, 1, for: world.holder(of: start.run)).first)
        let page = world.page(
            PageRows(),
            of: item,
            for: world.holder(of: start.run),
            isLast: true,
            completeUntil: Jobs.now
        )
        #expect(try await world.ledger.commit(page) == nil, "another process does not hold it")
        try await world.finish(start.run)
        let lines = Collected<ItemCoverage>()
        try await world.ledger.coverage(of: "nightly-sync", app: world.app) {
            lines.append($0); return true
        }
        #expect(lines.all.count == 2_500 && Set(lines.all.map(\.item)).count == 2_500)
        let first = lines.all.first { $0.item == item.key }
        #expect(first?.state == "done" && first?.completeUntil == "2026-05-28T20:26:40Z" && first?.gaps == [])
    }

    @Test func `the app's gaps show on its windows`() async throws {
        let world = try await TestLedger()
        _ = try await world.begin("notificationHistory: {scope: app, startDate: 2025-01-01T00:00:00Z}")
        let lines = Collected<ItemCoverage>()
        try await world.ledger.coverage(of: "nightly-sync", app: world.app) {
            lines.append($0); return true
        }
        #expect(lines.all.count >= 180)
        #expect(lines.all.allSatisfy { $0.gaps == ["2025-01-01T00:00:00Z/2025-11-29T20:36:40Z"] })
        #expect(lines.all.first?.windowStart == "2025-11-29T20:36:40Z")
    }
}
