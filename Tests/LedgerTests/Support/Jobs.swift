import AppStoreModel
import FoundationEssentials
import JobFiles
import Ledger
import Planning
import Streams
import TestSupport

/// Job files as tests need them; a `JobFile` can only be read from a file.
enum Jobs {
    static let now = UnixMilliseconds(rawValue: 1_780_000_000_000)

    static func load(
        streams: String,
        name: String = "nightly-sync",
        listing id: String = "1",
        changedSince: String? = nil,
        more: String = ""
    ) async throws -> JobFile {
        let text = """
            version: 1
            name: \(name)
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
            appStore:
              issuerId: 57246542-96fe-1a63-e053-0824d011072a
              keyId: 2X9R4HXF34
              privateKeyFile: SubscriptionKey.p8
            transactionIds: {\(changedSince.map { "changedSince: \($0)" } ?? "list: [\"\(id)\"]")}
            streams: {\(streams)}
            output: {postgres: {url: "postgresql:///ledger"}}
            \(more)
            """
        return try await withTemporaryDirectory { directory in
            let path = directory + "/job.yaml"
            let shown =
                streams.contains("scope: app") && !streams.contains("transactionHistory")
                ? text.replacing("transactionIds: {list: [\"\(id)\"]}\n", with: "") : text
            try Data(shown.utf8).write(to: URL(filePath: path))
            return try AcceptedJobs.crawl.load(path: path, environment: [:])
        }
    }
}

extension TestLedger {
    func plan(_ job: JobFile, now: UnixMilliseconds = Jobs.now, restart: Bool = false) -> RunPlan {
        RunPlan(job: job, app: app, now: now, restart: restart, version: "test")
    }

    /// Records the outcome of an item, at `now` by the database's clock; without a plan, of a job with one stream.
    @discardableResult
    func record(
        _ outcome: ItemOutcome,
        of item: WorkItem,
        requests: Int,
        for holder: LeaseHolder,
        plan: RunPlan? = nil,
        now: UnixMilliseconds = Jobs.now
    ) async throws -> Bool {
        let usual = self.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        return try await ledger.record(
            outcome,
            of: item,
            requests: requests,
            for: holder,
            plan: plan ?? usual,
            now: now
        )
    }

    /// Begins or joins a run over a list of IDs.
    func begin(
        _ streams: String,
        ids: [String] = [],
        now: UnixMilliseconds = Jobs.now,
        restart: Bool = false
    ) async throws -> StartedRun {
        try await ledger.beginOrJoin(
            plan(try await Jobs.load(streams: streams), now: now, restart: restart),
            ids: .feed { take in try take(ids) }
        )
    }

    func holder(of run: Int64) -> LeaseHolder {
        LeaseHolder(app: app, job: "nightly-sync", run: run)
    }

    /// Ends every item of the run as if all its pages had come, and the run with them.
    func finish(_ run: Int64, cursor: String? = "R") async throws {
        try await self.run(
            """
            UPDATE crawl_items SET state = 'done', claimable_at = NULL, lease_owner = NULL, finished_at = now(),
                   cursor = \(cursor.map { "'\($0)'" } ?? "NULL"), complete_until = coalesce(window_end, to_timestamp(\(Jobs.now.rawValue) / 1000.0))
             WHERE run_id = \(run) AND state <> 'failed'
            """
        )
        _ = try await ledger.conclude(run, app: app, job: "nightly-sync", exitCode: 0, message: nil)
    }

    /// Begins a run over `ids` and leases its items.
    func leased(
        _ ids: [String],
        streams: String = "transactionHistory: {}",
        of stream: StreamName = .transactionHistory
    ) async throws -> (items: [WorkItem], holder: LeaseHolder) {
        let start = try await begin(streams, ids: ids)
        let holder = holder(of: start.run)
        // In the order of the list, not in the order of leasing.
        return (try await take(stream, 1_000, for: holder).sorted { $0.key < $1.key }, holder)
    }

    /// Leases items; empty when there are none to take.
    func take(_ stream: StreamName, _ count: Int, for holder: LeaseHolder) async throws -> [WorkItem] {
        guard case .items(let items) = try await ledger.lease(stream, atMost: count, for: holder) else { return [] }
        return items
    }
}

extension UnixMilliseconds {
    static func daysBefore(_ days: Double) -> Self { Jobs.now - .seconds(days * 86_400) }
    static func daysAfter(_ days: Double) -> Self { Jobs.now + .seconds(days * 86_400) }
}

extension Ledger {
    /// Joins or starts a run whose streams have no separate lists.
    func beginOrJoin(_ plan: RunPlan, ids: ListedIDs) async throws -> StartedRun {
        try await beginOrJoin(plan, RunLists(transactions: ids))
    }
}
