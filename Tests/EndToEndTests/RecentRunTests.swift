import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// `run --if-older-than` and `run --json`.
@Suite(.migratedDatabase)
struct RecentRunTests {
    private struct Summary: Decodable {
        struct Counts: Decodable { let items, itemsDone, itemsFailed, rowsNew, requests: Int }
        struct CSV: Decodable {
            struct File: Decodable { let file: String }
            let directory: String
            let files: [File]
        }
        let job: String
        let run, exitCode: Int
        let joined, skipped: Bool?
        let counts: Counts?
        let elapsedSeconds: Double?
        let csv: CSV?
    }

    private static func summary(_ outcome: Stage.Outcome) throws -> Summary {
        try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    }

    @Test func `the second machine does nothing when the night's run is complete, and says which it is`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try stage.write(stage.job)
            // Without an earlier run, the first machine begins one.
            let first = try await stage.storeledger("run", path, "--if-older-than", "20h", "--json")
            #expect(try first.code == 0 && Self.summary(first).skipped == nil, "\(first)")
            let asked = try await stage.store.requests().total

            let second = try await stage.storeledger("run", path, "--if-older-than", "20h")

            #expect(second.code == 0 && second.errorLines == [], "\(second.errors)")
            #expect(
                second.output.hasPrefix("nightly: nothing to do; run 1 is complete (exit code 0) and began "),
                "\(second.output)"
            )
            #expect(second.output.hasSuffix(" ago, less than 20 h\n"), "\(second.output)")
            let json = try Self.summary(
                try await stage.storeledger("run", path, "--if-older-than", "20h", "--json")
            )
            #expect(json.skipped == true && json.run == 1 && json.exitCode == 0)
            let logged = try await stage.storeledger("run", path, "--if-older-than", "20h", "--log-format", "json")
            #expect(
                logged.errorLines.count == 1
                    && logged.errors.contains(#""message":"nightly: nothing to do; run 1 is complete"#),
                "\(logged.errors)"
            )
            #expect(try await stage.store.requests().total == asked)

            // The next night's run begins, because age counts from the start of the run.
            try await stage.book().change("UPDATE runs SET started_at = started_at - interval '21 hours'")
            let night = try await stage.storeledger("run", path, "--if-older-than", "20h")
            #expect(night.code == 0 && night.output.contains("nightly: run 2 complete\n"), "\(night)")
        }
    }

    @Test func `a process that starts again after exit code 2 finds the run complete, and ends with 0`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try stage.write(stage.job)
            try await stage.storeledger("run", path).expect(0)
            try await stage.book().change("UPDATE runs SET exit_code = 2")
            let asked = try await stage.store.requests().total

            let again = try await stage.storeledger("run", path, "--if-older-than", "12h")

            #expect(again.code == 0 && again.output.contains("run 1 is complete (exit code 2)"), "\(again)")
            let total = try await stage.store.requests().total
            #expect(total == asked)
        }
    }

    @Test func `an unfinished run is continued, and neither a retry nor other streams count as a complete run`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.limits = """
                {concurrency: 2, share: 1,
                   requestsPerSecond: {transactionHistory: 1, refundHistory: 1, notificationHistory: 1}}
                """
            let path = try stage.write(job)
            #expect(try await stage.storeledger("run", path, "--max-duration", "1s").code == 75)
            try stage.write(stage.job)
            let continued = try await stage.storeledger("run", path, "--if-older-than", "20h", "--json")
            let summary = try Self.summary(continued)
            #expect(continued.code == 0 && summary.run == 1 && summary.joined == true, "\(continued)")

            // Other streams are another crawl.
            job = stage.job
            job.streams = ["transactionHistory: {}"]
            try stage.write(job)
            let other = try await stage.storeledger("run", path, "--if-older-than", "20h", "--json")
            #expect(try Self.summary(other).run == 2, "\(other)")

            try await stage.book().with {
                try $0.script(
                    "UPDATE crawl_items SET state = 'failed' WHERE (stream, item_key) IN (SELECT stream, min(item_key) FROM crawl_items WHERE run_id = 2 GROUP BY stream)"
                )
                try $0.script("UPDATE runs SET started_at = started_at - interval '21 hours'")
            }
            let retried = try await stage.storeledger("retry", path, "--json")
            #expect(try retried.code == 0 && Self.summary(retried).run == 3, "\(retried)")
            let after = try await stage.storeledger("run", path, "--if-older-than", "20h", "--json")
            #expect(try Self.summary(after).run == 4, "\(after)")
            #expect(try await stage.storeledger("retry", path, "--json").output == "null\n")
        }
    }

    @Test func `run --json writes what the summary says, and a run that fails writes nothing`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.csv = "{directory: out, tables: [transactions, refunds]}"
            let path = try stage.write(job)
            let outcome = try await stage.storeledger("run", path, "--json", "--progress", "none")
            let summary = try Self.summary(outcome)
            let book = try stage.book()
            #expect(summary.job == "nightly" && summary.run == 1 && summary.exitCode == 0 && summary.joined == false)
            #expect(try await book.count("SELECT count(*) FROM crawl_items") == summary.counts?.items)
            #expect(try await stage.store.requests().total == summary.counts?.requests)
            #expect(summary.counts?.itemsFailed == 0 && (summary.elapsedSeconds ?? 0) > 0)
            #expect(summary.csv?.files.map(\.file) == ["transactions.csv", "refunds.csv"])
            #expect(summary.csv?.directory == stage.store.directory + "/out")
            let failed = try await stage.storeledger(
                "run",
                path,
                "--json",
                environment: ["DATABASE_URL": stage.databaseURL(database: "nowhere")]
            )
            #expect(failed.code == 78 && failed.output == "")
            let both = try await stage.storeledger("run", path, "--restart", "--if-older-than", "20h")
            #expect(both.code == 64)
        }
    }
}
