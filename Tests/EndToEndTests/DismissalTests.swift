import FoundationEssentials
import TestSupport
import Testing

/// How an alert ends: rejected records are dismissed, failures are written to a file, jobs are removed.
@Suite(.migratedDatabase)
struct DismissalTests {
    private static func job(of stage: Stage) -> JobText {
        var job = stage.job
        job.streams = ["transactionHistory: {}"]
        return job
    }

    private struct Reject: Decodable {
        let id, seen: Int
        let reason, detail, stream, item, environment, firstSeenAt, lastSeenAt: String
        let sha256, raw: String?
    }

    private static func rejects(_ text: String) throws -> [Reject] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Reject.self, from: Data($0.utf8)) }
    }

    /// Every run of the store meets the same bad records, each signed again.
    private static let someBad = #"{"rules": [{"fault": "forgeSignature", "oneIn": 40}]}"#

    @Test func `a dismissed record is not counted any more, even if a run receives it in other bytes`() async throws {
        try await Stage.with(.init(customers: 8, transactionsPerCustomer: 25)) { stage in
            let path = try stage.write(Self.job(of: stage))
            try await stage.store.setFaults(Self.someBad)
            try await stage.run(path, expecting: 2)
            try await stage.run(path, expecting: 2)

            let listed = try Self.rejects(try await stage.storeledger("rejects", path, "list", "--json").output)
            // Each was stored twice, because Apple signed it again, and counts once.
            let book = try stage.book()
            let bad = try await book.count("SELECT count(*) FROM quarantined_records")
            #expect(bad > 1 && listed.count == bad)
            #expect(try await book.count("SELECT count(*) FROM rejected_records WHERE resolved_at IS NOT NULL") == bad)
            #expect(listed.allSatisfy { $0.reason == "signature" && $0.raw == nil && $0.environment == "Production" })
            #expect(listed.map(\.id) == listed.map(\.id).sorted())

            let figures = stage.directory + "/nightly.prom"
            #expect(try await stage.storeledger("run", path, "--metrics-file", figures).code == 2)
            #expect(try String(contentsOfFile: figures, encoding: .utf8).contains("storeledger_rejected_records{"))
            // One ID dismisses the record, whatever its bytes were.
            let left = try Self.rejects(try await stage.storeledger("rejects", path, "list", "--json").output)
            let one = try await stage.storeledger("rejects", path, "dismiss", "\(left[0].id)")
            #expect(one.code == 0 && one.output == "nightly: dismissed 1 rejected record\n", "\(one)")
            #expect(try await book.count("SELECT sum(records) FROM rejected_records_by_reason") == bad - 1)
            let all = try await stage.storeledger("rejects", path, "dismiss", "--all")
            #expect(all.code == 0 && all.output.hasPrefix("nightly: dismissed \(bad - 1) rejected record"), "\(all)")

            #expect(try await stage.storeledger("rejects", path).output == "nightly: no rejected records\n")
            // The alert ends as soon as status updates the file, which keeps the last exit of the run.
            #expect(try await stage.storeledger("status", path, "--metrics-file", figures).code == 0)
            let updated = try String(contentsOfFile: figures, encoding: .utf8)
            #expect(!updated.contains("storeledger_rejected_records{"), "\(updated)")
            #expect(
                updated.contains("job_name=\"nightly\"} 2\n")
                    && updated.split(separator: "\n").count { $0.contains("_last_exit_code{") } == 1
            )
            #expect(try await !stage.storeledger("status", path).output.contains("  rejected: "))
            let file = stage.directory + "/storeledger.prom"
            let again = try await stage.storeledger("run", path, "--restart", "--metrics-file", file)
            #expect(again.code == 0 && again.output.contains("rejected           0\n"), "\(again)")
            #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("storeledger_rejected_records{"))
            let counted = "SELECT count(*) FROM rejected_records WHERE dismissed_at IS NULL AND resolved_at IS NULL"
            #expect(try await book.count(counted) == 0)
            #expect(
                try await book.count("SELECT count(*) FROM rejected_records WHERE dismissed_at IS NOT NULL") == 2 * bad
            )
            // A replay still tries them, and does not count them.
            let replay = try await stage.storeledger("replay", path, "--rejected")
            #expect(replay.code == 0 && replay.output.contains("\(2 * bad) payloads: 0 new"), "\(replay)")
            #expect(replay.output.hasSuffix("0 rejected, \(2 * bad) rejected as before and dismissed\n"), "\(replay)")
        }
    }

    @Test func `an export has the texts, for its owner alone, and an unknown ID dismisses nothing`() async throws {
        try await Stage.with(.init(customers: 8, transactionsPerCustomer: 25)) { stage in
            let path = try stage.write(Self.job(of: stage))
            try await stage.store.setFaults(Self.someBad)
            try await stage.run(path, expecting: 2)
            let file = stage.directory + "/rejects.jsonl"

            let export = try await stage.storeledger("rejects", path, "export", file)

            let exported = try Self.rejects(try String(contentsOfFile: file, encoding: .utf8))
            #expect(export.code == 0 && export.output.hasSuffix(" of nightly\n") && exported.count > 1, "\(export)")
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            let stored = try await stage.book().column(
                "SELECT convert_from(raw, 'UTF8') FROM rejected_records ORDER BY record_id"
            )
            #expect(exported.compactMap(\.raw) == stored)
            #expect(exported.allSatisfy { $0.sha256?.count == 64 })

            let wrong = try await stage.storeledger("rejects", path, "dismiss", "\(exported[0].id)", "4711")
            #expect(wrong.code == 65 && wrong.errors.contains("no open rejected record 4711, "), "\(wrong.errors)")
            #expect(
                try await stage.storeledger("rejects", path, "list", "--json").output.split(separator: "\n").count
                    == exported.count
            )
            for arguments in [
                ["dismiss"], ["dismiss", "x"], ["dismiss", "1", "--all"], ["export"], ["list", "7"], ["list", "--all"],
            ] {
                let code = try await stage.withStoreledger(["rejects", path] + arguments) { await $0.wait() }
                #expect(code == 64, "\(arguments)")
            }
        }
    }

    @Test func `failures writes Apple's code and message of each failed item, for its owner alone`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = Self.job(of: stage)
            let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            try stage.write("\(list)999999999999\n999999999998\n", to: "more.csv")
            job.transactionIds = "csv: {path: more.csv, column: transaction_id}"
            let path = try stage.write(job)
            let file = stage.directory + "/failures.csv"
            let never = try await stage.storeledger("failures", path, "--csv", file)
            #expect(never.code == 0 && never.output == "nightly has never run\n")
            #expect(!FileManager.default.fileExists(atPath: file))
            try await stage.run(path, expecting: 2)

            let outcome = try await stage.storeledger("failures", path, "--csv", file)

            #expect(outcome.code == 0 && outcome.output == "\(file): 2 failed items of nightly\n", "\(outcome)")
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\r\n")
            #expect(lines.first == "stream,item_key,error_code,error_message,request_count,run_id,failed_at")
            #expect(lines.count == 3, "\(lines)")
            #expect(
                lines.dropFirst().allSatisfy {
                    $0.hasPrefix("\"transactionHistory\",\"99999999999") && $0.contains(",4040010,\"")
                        && $0.contains(",1,1,")
                },
                "\(lines)"
            )
            let listed = try await stage.storeledger("failures", path)
            #expect(listed.code == 0 && listed.output.split(separator: "\n").count == 3, "\(listed)")
            let group = "2 items of transactionHistory: Transaction id not found. (4040010)\n"
            #expect(
                listed.output.hasPrefix(group + "  999999999998: 1 request in run 1, failed 2")
                    && listed.output.contains("\n  999999999999: 1 request in run 1, failed 2"),
                "\(listed.output)"
            )
            // The column with the IDs can be read as an ID list.
            job.transactionIds = "csv: {path: \(file), column: item_key}"
            job.name = "again"
            let plan = try await stage.storeledger("plan", try stage.write(job))
            #expect(plan.output.hasPrefix("again: 2 transaction IDs"), "\(plan)")
        }
    }

    @Test func `a removed job is forgotten with its alerts, keeps its records, and starts from the beginning`()
        async throws
    {
        struct Job: Decodable {
            let app, environment, job, lastStartedAt, state: String
            let lastRun: Int
            let exitCode: Int?
            let lastCompleteAt: String?
        }
        try await Stage.with(.init(customers: 8, transactionsPerCustomer: 25)) { stage in
            var job = Self.job(of: stage)
            job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: -2d}"]
            let path = try stage.write(job)
            try await stage.run(path)
            job.name = "adhoc"
            let adhoc = try stage.write(job)
            try await stage.store.setFaults(Self.someBad)
            try await stage.run(adhoc, expecting: 2)
            let jobs = try JSONDecoder().decode(
                [Job].self,
                from: Data(try await stage.storeledger("jobs", "list", "--json").output.utf8)
            )
            #expect(jobs.map(\.job) == ["adhoc", "nightly"] && jobs.map(\.lastRun) == [2, 1])
            #expect(
                jobs.map(\.exitCode) == [2, 0] && jobs.allSatisfy { $0.state == "finished" && $0.lastCompleteAt != nil }
            )
            let book = try stage.book()
            let tables = LedgerBook.dataTables.filter { $0 != "rejected_records" }
            let versions = try await book.versions(of: tables).sorted()
            let texts = try await book.count("SELECT count(*) FROM rejected_records")

            let removed = try await stage.storeledger("jobs", "remove", "adhoc")

            #expect(removed.code == 0, "\(removed)")
            #expect(removed.output == "adhoc: removed from com.example.game (Production); its records are kept\n")
            expectSame(try await book.versions(of: tables).sorted(), versions)
            #expect(
                try await book.count(
                    "SELECT count(*) FROM rejected_records WHERE raw <> '' AND resolved_at IS NOT NULL"
                ) == texts
            )
            #expect(try await book.count("SELECT count(*) FROM rejected_records_by_reason") == 0)
            for table in ["crawl_items", "planned_streams", "jobs", "coverage_gaps"] {
                #expect(try await book.count("SELECT count(*) FROM \(table) WHERE job LIKE 'adhoc%'") == 0, "\(table)")
            }
            #expect(try await book.column("SELECT job FROM runs ORDER BY run_id") == ["nightly", "adhoc (removed)"])
            #expect(try await stage.storeledger("status", adhoc).output == "adhoc has never run\n")
            #expect(try await !stage.storeledger("status").output.contains("adhoc"))
            let file = stage.directory + "/all.prom"
            #expect(try await stage.storeledger("status", "--metrics-file", file).code == 0)
            #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("adhoc"))
            let unknown = try await stage.storeledger("jobs", "remove", "adhoc")
            #expect(unknown.code == 65 && unknown.errors.contains("the ledger has no job adhoc"), "\(unknown.errors)")

            // The records that are still bad count again.
            let again = try await stage.storeledger("run", adhoc)
            #expect(again.code == 2 && again.output.contains("items              11 ("), "\(again)")
        }
    }

    @Test func `a job that is running is not removed, and one with an unfinished run is`() async throws {
        try await Stage.with(.init(customers: 12)) { stage in
            var job = stage.job
            job.limits = """
                {concurrency: 8, share: 1,
                   requestsPerSecond: {transactionHistory: 1, refundHistory: 1, notificationHistory: 1}}
                """
            let path = try stage.write(job)
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                try await stage.store.arrivals(3) { process.hasEnded }
                let jobs = try await stage.storeledger("jobs").output
                #expect(jobs.contains(", running"), "\(jobs)")
                let refused = try await stage.storeledger("jobs", "remove", "nightly")
                #expect(refused.code == 75 && refused.errors.contains("is running"), "\(refused)")
                process.signal(15)
                #expect(await process.wait() == 75)
            }
            let jobs = try await stage.storeledger("jobs").output
            #expect(jobs.contains(", unfinished, exit 75\n  last complete: never\n"), "\(jobs)")
            #expect(try await stage.storeledger("jobs", "remove", "nightly").code == 0)
            #expect(try await stage.book().count("SELECT count(*) FROM runs WHERE finished_at IS NULL") == 0)
            try stage.write(stage.job)
            try await stage.run(path)
            expectNone(try await stage.book().differences(from: stage.store.world()))
        }
    }
}
