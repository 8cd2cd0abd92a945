import Glibc
import Postgres
import TestSupport
import Testing

/// Runs that are stopped by a signal.
@Suite(.migratedDatabase, .timeLimit(.minutes(15)))
struct StoppedRunTests {
    /// A job that would take a minute.
    private static func slow(_ stage: Stage) -> JobText {
        var job = stage.job
        job.limits = """
            {concurrency: 8, share: 1,
               requestsPerSecond: {transactionHistory: 1, refundHistory: 1, notificationHistory: 1}}
            """
        return job
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal stops a run in order, and the next run completes it`(signal: Int32) async throws {
        try await Stage.with(.init(customers: 30)) { stage in
            let path = try await stage.migrated(Self.slow(stage))
            let book = try stage.book()
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                try await stage.store.arrivals(3) { process.hasEnded }
                let asked = ContinuousClock.now
                process.signal(signal)
                #expect(await process.wait() == 75)
                #expect(ContinuousClock.now - asked < .seconds(10))
                #expect(process.output == "")
                #expect(
                    Stage.lines(of: process.errors)
                        == ["storeledger: stopped by signal \(signal) with work left; run again to resume"]
                )
            }
            #expect(
                try await book.count(
                    "SELECT count(*) FROM crawl_items WHERE state = 'leased' OR lease_owner IS NOT NULL"
                ) == 0
            )
            #expect(try await book.column("SELECT exit_code FROM runs WHERE finished_at IS NULL") == ["75"])

            try stage.write(stage.job.text, to: "nightly.yaml")
            try await stage.run(path)
            expectNone(try await book.differences(from: stage.store.world()))
            #expect(try await book.count("SELECT count(*) FROM runs") == 1)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a second signal ends the process at once`(signal: Int32) async throws {
        try await Stage.with { stage in
            let path = try await stage.migrated(Self.slow(stage))
            let book = try stage.book()
            let intruder = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                try await stage.store.arrivals(3) { process.hasEnded }
                // While the table is locked the process cannot give its leases back, so it cannot end in order.
                try intruder.script("BEGIN; LOCK TABLE appstore.crawl_items IN EXCLUSIVE MODE")
                process.signal(signal)
                let waiting = """
                    SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                       AND datname = current_database() AND query LIKE '%lease_owner = NULL, claimable_at = clock_timestamp()%'
                    """
                while try await book.count(waiting) == 0, !process.hasEnded {}
                process.signal(signal)
                #expect(await process.wait() == 128 + signal)
                try intruder.script("ROLLBACK")
            }
        }
    }

    @Test func `a run stops in order when its time is up`() async throws {
        try await Stage.with { stage in
            let path = try await stage.migrated(Self.slow(stage))
            let outcome = try await stage.storeledger("run", path, "--max-duration", "1s", "--progress", "none")
            #expect(outcome.code == 75)
            #expect(outcome.output == "")
            #expect(outcome.errorLines == ["storeledger: stopped after 1.0 s with work left; run again to resume"])
            let leased = "SELECT count(*) FROM crawl_items WHERE state = 'leased'"
            #expect(try await stage.book().count(leased) == 0)
        }
    }
}
