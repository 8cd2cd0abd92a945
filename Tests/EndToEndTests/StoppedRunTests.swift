import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// Runs that are stopped by a signal.
@Suite(.migratedDatabase)
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
                process.signal(signal)
                #expect(await process.wait() == 75)
                #expect(process.output == "")
                let lines = Stage.lines(of: process.errors)
                let left = lines.first?.wholeMatch(
                    of: /stopped by signal ([0-9]+) with ([0-9]+) of [0-9]+ items left; storeledger run [^ ]+ continues/
                )
                #expect(lines.count == 1 && left?.1 == "\(signal)" && left?.2 != "0", "\(process.errors)")
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

    @Test
    func
        `status shows a running run with its host and speed, a stopped one as unfinished, a replaced one as superseded`()
        async throws
    {
        struct Status: Decodable {
            struct Run: Decodable {
                let run: Int
                let state: String
                let pages, requests: Int
            }
            struct Activity: Decodable {
                struct Process: Decodable {
                    let host: String
                    let processId: Int32
                    let startedAt, seenAt: String
                }
                let processes: [Process]
                let seconds, items, requests: Int
            }
            let runs: [Run]
            let activity: Activity?
        }
        try await Stage.with(.init(customers: 30)) { stage in
            let path = try await stage.migrated(Self.slow(stage))
            func status() async throws -> Status {
                let outcome = try await stage.storeledger("status", path, "--json")
                return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
            }
            let host = ProcessInfo.processInfo.hostName
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { first in
                try await stage.withStoreledger(["run", path, "--progress", "none"]) { second in
                    let both = "SELECT count(*) FROM run_processes"
                    try await poll {
                        try await stage.book().count(both) >= 2 || first.hasEnded || second.hasEnded
                    }
                    try await stage.store.arrivals(6) { first.hasEnded }
                    let running = try await status()
                    let processes = running.activity?.processes ?? []
                    #expect(running.runs.map(\.state) == ["running"])
                    // Eight workers can have a request on its way.
                    #expect(running.runs.allSatisfy { $0.pages >= 1 && $0.requests >= $0.pages }, "\(running.runs)")
                    #expect(Set(processes.map(\.processId)) == [first.processID, second.processID])
                    #expect(processes.allSatisfy { $0.host == host && $0.seenAt.hasSuffix("Z") })
                    #expect((running.activity?.requests ?? 0) >= 6 && (running.activity?.seconds ?? 0) <= 300)
                    let text = try await stage.storeledger("status", path).output
                    #expect(text.contains(", running on \(host) (process "), "\(text)")
                    #expect(
                        text.contains(" requests of all jobs of the app\n") && text.contains("    in the last "),
                        "\(text)"
                    )
                    second.signal(SIGTERM)
                    #expect(await second.wait() == 75)
                    #expect(try await status().activity?.processes.map(\.processId) == [first.processID])
                    first.signal(SIGTERM)
                    #expect(await first.wait() == 75)
                }
            }
            let stopped = try await status()
            #expect(stopped.runs.map(\.state) == ["unfinished"] && stopped.activity == nil)

            try stage.write(stage.job.text, to: "nightly.yaml")
            try await stage.withStoreledger(["run", path, "--restart", "--progress", "none"]) { process in
                #expect(await process.wait() == 0, "\(process.errors)")
            }
            #expect(try await status().runs.map(\.state) == ["finished", "superseded"])
            let text = try await stage.storeledger("status", path).output
            #expect(text.contains(/\n  run 1: started [^ ]+, superseded [^ ]+Z\n/), "\(text)")
        }
    }

    @Test func `a process that was killed counts as running for a minute and no longer`() async throws {
        try await Stage.with(.init(customers: 30)) { stage in
            let path = try await stage.migrated(Self.slow(stage))
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                try await stage.store.arrivals(3) { process.hasEnded }
                process.signal(SIGKILL)
                await process.wait()
            }
            #expect(try await stage.storeledger("status", path).output.contains(", running on "))
            // A minute later.
            try await stage.book().with {
                try $0.script(
                    """
                    UPDATE run_processes SET seen_at = seen_at - interval '61 seconds';
                    UPDATE crawl_items SET claimable_at = claimable_at - interval '61 seconds' WHERE state = 'leased'
                    """
                )
            }
            #expect(try await stage.storeledger("status", path).output.contains(", unfinished\n"))
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
                try await poll { try await book.count(waiting) > 0 || process.hasEnded }
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
            let sentence =
                /stopped after 1\.0 s with [1-9][0-9]* of [1-9][0-9]* items left; storeledger run [^ ]+ continues/
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errorLines.first?.wholeMatch(of: sentence) != nil, "\(outcome.errors)")
            let again = try await stage.storeledger("run", path, "--max-duration", "1s", "--log-format", "json")
            let last = try #require(again.errorLines.last)
            #expect(again.code == 75 && last.contains("\"level\":\"notice\"") && last.contains("\"exitCode\":\"75\""))
            let leased = "SELECT count(*) FROM crawl_items WHERE state = 'leased'"
            #expect(try await stage.book().count(leased) == 0)
        }
    }
}
