import TestSupport
import Testing

/// Several processes, one app, one limit of Apple's.
@Suite(.migratedDatabase)
struct SharedLimitTests {
    private static let window = 10
    private static let share = 0.8
    /// Apple's limits, per second.
    private static let limits = ["transactionHistory": 50, "refundHistory": 10, "notificationHistory": 50]

    @Test func `processes and jobs of one app stay within its limit together, and do no work twice`() async throws {
        let options = SimulatedStore.Options(customers: 60, transactionsPerCustomer: 20, windowSeconds: Self.window)
        try await Stage.with(options) { stage in
            var job = stage.job
            job.limits = "{concurrency: 16, share: \(Self.share), windowSeconds: \(Self.window)}"
            let path = try await stage.migrated(job)
            job.name = "other"
            let other = try stage.write(job)

            try await withThrowingTaskGroup(of: Stage.Outcome.self) { group in
                for path in [path, path, other] {
                    group.addTask {
                        try await stage.storeledger("run", path, "--progress", "plain", "--log-level", "debug")
                    }
                }
                var told = ""
                for try await outcome in group {
                    #expect(outcome.code == 0, "\(outcome.errors)")
                    told += outcome.errors
                }
                #expect(told.contains("the budget of refundHistory is spent; waiting until "))
            }

            let book = try stage.book()
            let requests = try await stage.store.requests()
            #expect(requests.refused == 0)
            #expect(requests.total == (try await book.count("SELECT sum(page_count) FROM crawl_items")))
            #expect(
                requests.count(of: "refundHistory")
                    > Int(Double(Self.limits["refundHistory", default: 0] * Self.window) * Self.share)
            )
            #expect(try await book.column("SELECT DISTINCT state FROM crawl_items") == ["done"])
            // A page_seq beyond page_count would be a page committed twice.
            #expect(
                try await book.count(
                    "SELECT count(*) FROM crawl_items WHERE page_seq <> page_count OR lease_epoch <> 1"
                ) == 0
            )
            #expect(try await book.count("SELECT count(*) FROM runs WHERE exit_code = 0") == 2)
            for (endpoint, limit) in Self.limits {
                let allowed = Int(Double(limit * Self.window) * Self.share)
                #expect(requests.most(within: Self.window, of: endpoint) <= allowed, "\(endpoint)")
            }
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }
}
