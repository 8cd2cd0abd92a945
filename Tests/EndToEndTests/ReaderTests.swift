import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// The commands that need only the database and the app, and no job file.
@Suite(.migratedDatabase)
struct ReaderTests {
    @Test func `status, coverage, report and export read the ledger's only app without a job file and its variables`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.csv = "{directory: out, tables: [transactions, notifications]}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let none = ["DATABASE_URL": ""]
            let place = ["--database", stage.databaseURL(), "--app", "com.example.game"]
            func read(_ arguments: [String]) async throws -> Stage.Outcome {
                try await stage.withStoreledger(arguments, environment: none) { process in
                    let code = await process.wait()
                    return Stage.Outcome(code: code, output: process.output, errors: process.errors)
                }
            }
            for place in [place, Array(place.prefix(2)), place + ["--environment", "Production", "--job", "nightly"]] {
                let status = try await read(["status"] + place)
                #expect(status.code == 0 && status.output.hasPrefix("nightly: com.example.game (Production)\n"))
                #expect(status.output.contains("  run 1: started ") && status.output.contains(", exit 0\n"))
                let coverage = try await read(["coverage"] + place)
                #expect(coverage.output == (try await stage.storeledger("coverage", path).output))
                let all = try await read(["coverage"] + place + ["--all", "--json"])
                #expect(all.output == (try await stage.storeledger("coverage", path, "--all", "--json").output))
                #expect(all.code == 0 && all.output.split(separator: "\n").count > 3)
                let directory = stage.directory + "/apart"
                let tables = ["--csv-directory", directory, "--tables", "transactions,notifications"]
                let export = try await read(["export"] + place + tables)
                #expect(export.code == 0 && export.output.hasPrefix("transactions.csv: "), "\(export.errors)")
                for name in ["transactions.csv", "notifications.csv"] {
                    let own = try Data(contentsOf: URL(filePath: stage.store.directory + "/out/\(name)"))
                    #expect(try Data(contentsOf: URL(filePath: "\(directory)/\(name)")) == own)
                }
                let manifest = try String(contentsOfFile: directory + "/manifest.json", encoding: .utf8)
                let root = try await stage.book().column("SELECT trusted_roots[1] FROM apps")
                #expect(manifest.contains("\"job\" : \"nightly\"") && manifest.contains(root[0]), "\(manifest)")
                let report = try await read(["report", "--output", directory + "/report.html"] + place)
                #expect(report.code == 0 && !report.output.contains("never"), "\(report.errors)")
            }
        }
    }

    @Test func `an app or job that the ledger lacks, or that has to be chosen, is named`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let path = try await stage.migrated(stage.job)
            let empty = try await stage.storeledger("coverage")
            #expect(empty.code == 64, "\(empty)")
            #expect(empty.errorLines == ["storeledger: the ledger has no app yet; storeledger run JOB adds the first"])
            try await stage.run(path)
            var other = stage.job
            other.name = "weekly"
            try await stage.run(try stage.write(other))
            // The job that ran last.
            #expect(try await stage.storeledger("coverage").output.hasPrefix("weekly: com.example.game (Production)\n"))
            let named = try await stage.storeledger("coverage", "--job", "nightly")
            #expect(named.output.hasPrefix("nightly: com.example.game (Production)\n"))
            // An app whose only run has failed with nothing loaded needs no choice.
            try await stage.book().with {
                try $0.script(
                    """
                    WITH added AS (
                        INSERT INTO apps (bundle_id, environment) VALUES ('com.example.gmae', 'Production') RETURNING app_id
                    )
                    INSERT INTO runs (app_id, job, fingerprint, frozen_now, version, exit_code)
                    SELECT app_id, 'nightly', 'f', now(), '1', 76 FROM added
                    """
                )
            }
            #expect(try await stage.storeledger("coverage").output.hasPrefix("weekly: com.example.game (Production)\n"))
            #expect(try await stage.storeledger("status").output.contains("nightly: com.example.gmae (Production)\n"))
            try await stage.book().with { try $0.script("DELETE FROM runs WHERE exit_code = 76") }
            try await stage.book().with {
                try $0.script(
                    """
                    WITH added AS (
                        INSERT INTO apps (bundle_id, environment)
                        VALUES ('com.example.game', 'Sandbox'), ('com.example.other', 'Production') RETURNING app_id
                    )
                    INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
                    SELECT app_id, '1', '1', now(), '', '{}' FROM added
                    """
                )
            }
            let apps =
                "com.example.game (Production), com.example.game (Sandbox), com.example.other (Production)"
            let choose = "storeledger: choose an app of the ledger with --app and --environment: \(apps)"
            let every = try await stage.storeledger("coverage")
            #expect(every.code == 0 && every.output.contains("weekly: com.example.game (Production)\n"), "\(every)")
            #expect(try await stage.storeledger("status", "--app", "com.example.third").errorLines == [choose[...]])
            #expect(try await stage.storeledger("coverage", "--app", "com.example.game").code == 0)
            let sandbox = try await stage.storeledger(
                "report",
                "--app",
                "com.example.game",
                "--environment",
                "Sandbox",
                "--output",
                "-"
            )
            #expect(sandbox.code == 64)
            #expect(sandbox.errorLines == ["storeledger: no job of com.example.game (Sandbox) has ever run"])
            let job = try await stage.storeledger("status", "--app", "com.example.game", "--job", "daily")
            let words = "no job daily of com.example.game (Production) has ever run; these have: nightly, weekly"
            #expect(job.code == 64 && job.errorLines == ["storeledger: \(words)"], "\(job)")
            for arguments in [
                ["coverage", path, "--database", "postgresql:///x"],
                ["export"], ["export", path, "--csv-directory", "out"], ["export", "--csv-directory", "/etc/x"],
                ["export", "--csv-directory", "../x"], ["export", "--csv-directory", "x", "--tables", "secrets"],
                ["export", "--csv-directory", "x", "--tables", "runs,runs"], ["status", "--environment", "Xcode"],
            ] {
                let outcome = try await stage.withStoreledger(arguments) { (await $0.wait(), $0.errors) }
                #expect(outcome.0 == 64 && outcome.1.hasPrefix("Error: "), "\(arguments): \(outcome)")
            }
        }
    }

    @Test func `coverage summarises each stream, with what failed, what Apple does not know, and gaps`() async throws {
        try await Stage.with(.init(customers: 4)) { stage in
            var job = stage.job
            let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            try stage.write("\(list)999999999999\n", to: "more.csv")
            job.transactionIds = "csv: {path: more.csv, column: transaction_id}"
            job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: -2d, endDate: now}"]
            let path = try await stage.migrated(job)
            try await stage.run(path, expecting: 2)
            let book = try stage.book()
            let moment = "to_char(frozen_now AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
            let now = try await book.column("SELECT \(moment) FROM runs")[0]
            let whole = try await stage.storeledger("coverage", path)
            #expect(
                whole.output.contains("\n  transactionHistory: 5 items; complete until \(now); 1 unknown to Apple\n"),
                "\(whole.output)"
            )
            #expect(whole.output.contains("\n  notificationHistory: 3 items; complete until "), "\(whole.output)")

            try await book.with {
                try $0.script(
                    """
                    UPDATE crawl_items SET state = 'failed', claimable_at = NULL, error_code = 4290000
                     WHERE stream = 'notificationHistory' AND window_start = (SELECT max(window_start) FROM crawl_items);
                    INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
                    VALUES (1, 'nightly', 'notificationHistory', 'app', '2026-01-01Z', '2026-01-02Z', '', 1)
                    """
                )
            }
            struct Line: Decodable {
                let job, stream: String
                let items, done, failed, unknownIds, gaps: Int
                let completeUntil, newestCompleteUntil: String
                let gapsFrom, gapsTo: String?
            }
            let lines = try await stage.storeledger("coverage", path, "--json").output.split(separator: "\n")
                .map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            let windows = try #require(lines.first { $0.stream == "notificationHistory" })
            let lastWindow = try await book.column(
                "SELECT to_char(max(window_start) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM crawl_items"
            )
            #expect(lines.count == 2 && windows.failed == 1 && windows.completeUntil == lastWindow[0])
            #expect(windows.gaps == 1 && windows.gapsFrom == "2026-01-01T00:00:00Z")
            #expect(windows.gapsTo == "2026-01-02T00:00:00Z" && windows.done == windows.items - 1)
            let text = try await stage.storeledger("coverage", path).output
            #expect(
                text.contains("; 1 failed; 1 gap from 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z\n"),
                "\(text)"
            )
        }
    }
}
