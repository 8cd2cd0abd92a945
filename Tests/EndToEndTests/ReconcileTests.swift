import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// `reconcile` after real runs, as a user runs it.
@Suite(.migratedDatabase)
struct ReconcileTests {
    /// A nightly job, and a receiver that has received everything of the last three closed days.
    private struct Night {
        let stage: Stage
        let job: String
        let book: LedgerBook

        func reconcile(_ options: String...) async throws -> Stage.Outcome {
            try await stage.withStoreledger(["reconcile", job] + options) { process in
                let code = await process.wait()
                return Stage.Outcome(code: code, output: process.output, errors: process.errors)
            }
        }
    }

    private static func job(_ stage: Stage) -> JobText {
        var job = stage.job
        job.transactionIds = nil
        job.streams = ["notificationHistory: {scope: app, startDate: lastRun}"]
        return job
    }

    private func night(_ body: (Night) async throws -> Void) async throws {
        try await Stage.with(.init(customers: 60, transactionsPerCustomer: 6)) { stage in
            let path = try await stage.migrated(Self.job(stage))
            try await stage.run(path)
            let book = try stage.book()
            // As if each notification had been received two seconds after Apple signed it.
            try await book.change(
                """
                INSERT INTO received_notifications (app_id, notification_uuid, version, notification_type, subtype, signed_date,
                                                    original_transaction_id, received_at, last_received_at, body_sha256, normalised_at)
                SELECT app_id, notification_uuid, 2, notification_type, subtype, signed_date, original_transaction_id,
                       signed_date + interval '2 seconds', signed_date + interval '2 seconds', '', signed_date + interval '3 seconds'
                  FROM notifications WHERE signed_date >= date_trunc('day', now(), 'UTC') - interval '3 days'
                   AND signed_date < date_trunc('day', now(), 'UTC')
                """
            )
            #expect(try await book.count("SELECT count(*) FROM received_notifications") > 5)
            try await body(Night(stage: stage, job: path, book: book))
        }
    }

    private struct Result: Decodable {
        struct Day: Decodable {
            struct Kind: Decodable {
                let notificationType: String
                let received: Int
                let receivedAndInHistory: Int
                let recovered: Int
                let answeredButMissing: Int
                let unexplained: Int
                let toBeReadAgain: Int
                let missingExample: String?
            }
            let day: String
            let state: String
            let types: [Kind]
        }
        let days: [Day]
    }

    private func result(_ outcome: Stage.Outcome) throws -> Result {
        try JSONDecoder().decode(Result.self, from: Data(outcome.output.utf8))
    }

    @Test func `days on which everything was received are clean, and what Apple could not deliver is recovered`()
        async throws
    {
        try await night { night in
            let clean = try await night.reconcile()
            clean.expect(0)
            #expect(clean.output.contains(": clean") && !clean.output.contains("recovered"), "\(clean.output)")
            // One that Apple could not deliver at any attempt.
            let last = "SELECT notification_uuid FROM received_notifications ORDER BY signed_date DESC LIMIT 1"
            let uuid = try #require(try await night.book.column(last).first)
            try await night.book.change("DELETE FROM received_notifications WHERE notification_uuid = '\(uuid)'")
            try await night.book.change(
                "UPDATE notification_send_attempts SET send_attempt_result = 'TIMED_OUT' WHERE notification_uuid = '\(uuid)'"
            )
            let recovered = try await night.reconcile("--json")
            recovered.expect(0)
            let days = try result(recovered).days
            #expect(days.allSatisfy { $0.state == "clean" })
            #expect(days.flatMap(\.types).map(\.recovered).reduce(0, +) == 1)
            let text = try await night.reconcile()
            #expect(text.output.contains("1 recovered by the crawl (TIMED_OUT 1)"), "\(text.output)")
        }
    }

    @Test func `a notification that was answered with success and is missing ends with 2, in every form`() async throws
    {
        try await night { night in
            let lost = try #require(
                try await night.book.column(
                    """
                    SELECT r.notification_uuid FROM received_notifications r
                      JOIN notification_send_attempts a USING (app_id, notification_uuid)
                     WHERE a.send_attempt_result = 'SUCCESS' AND r.signed_date > (SELECT min(received_at) FROM received_notifications)
                     ORDER BY 1 LIMIT 1
                    """
                ).first
            )
            try await night.book.change("DELETE FROM received_notifications WHERE notification_uuid = '\(lost)'")
            let file = night.stage.directory + "/storeledger.prom"
            let outcome = try await night.reconcile("--metrics-file", file)
            outcome.expect(2)
            #expect(
                outcome.output.contains("MISSING") && outcome.output.contains("such as \(lost)"),
                "\(outcome.output)"
            )
            let json = try await night.reconcile("--json")
            json.expect(2)
            let kinds = try result(json).days.flatMap(\.types)
            #expect(kinds.compactMap(\.missingExample) == [lost])
            let metrics = try String(contentsOfFile: file, encoding: .utf8)
            #expect(
                metrics.contains(
                    #"storeledger_reconciled_notifications{app="com.example.game",environment="Production",result="answered_but_missing"} 1"#
                ),
                "\(metrics)"
            )
            let status = try await night.stage.storeledger("status", night.job)
            #expect(status.output.contains("1 answered but missing"), "\(status.output)")
            let report = night.stage.directory + "/report.html"
            try await night.stage.storeledger("report", night.job, "--output", report).expect(0)
            #expect(try String(contentsOfFile: report, encoding: .utf8).contains("Answered but missing"))
        }
    }

    @Test func `what the history does not list is read again by the next run before it is reported`() async throws {
        try await night { night in
            let odd = try #require(
                try await night.book.column(
                    "SELECT notification_uuid FROM received_notifications ORDER BY signed_date DESC LIMIT 1"
                ).first
            )
            // The same receipt under another UUID: Apple's history does not have it.
            let copied = """
                INSERT INTO received_notifications (app_id, notification_uuid, version, notification_type, signed_date, received_at,
                                                    last_received_at, body_sha256)
                SELECT app_id, 'not-listed', version, notification_type, signed_date, received_at, last_received_at, ''
                  FROM received_notifications WHERE notification_uuid = '\(odd)'
                """
            try await night.book.change(copied)
            let first = try await night.reconcile()
            first.expect(0)
            #expect(first.output.contains("1 to be read again, such as not-listed"), "\(first.output)")
            let plan = try await night.stage.storeledger("plan", night.job)
            plan.expect(0)
            try await night.stage.run(night.job)
            let again = "crawl_items WHERE item_key LIKE '%+again' AND state = 'done'"
            #expect(try await night.book.count("SELECT count(*) FROM \(again)") == 1)
            let coverage = try await night.stage.storeledger("coverage", night.job, "--all")
            #expect(coverage.output.contains("read again for the receiver"), "\(coverage.output)")
            let second = try await night.reconcile()
            second.expect(2)
            #expect(second.output.contains("UNEXPLAINED"), "\(second.output)")
            // It stays reported, and the day is not read again.
            try await night.stage.run(night.job)
            #expect(try await night.book.count("SELECT count(*) FROM \(again) AND run_id = 3") == 0)
            try await night.reconcile().expect(2)
        }
    }

    @Test func `final reports at once`() async throws {
        try await night { night in
            try await night.book.change("DELETE FROM notification_send_attempts")
            let outcome = try await night.reconcile("--final", "--json")
            outcome.expect(2)
            #expect(try result(outcome).days.contains { $0.state == "unexplained" })
        }
    }

    @Test func `RC1 nothing was ever received: 78 with the remedy`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let path = try await stage.migrated(Self.job(stage))
            for _ in 1...2 {
                let outcome = try await stage.storeledger("reconcile", path)
                outcome.expect(78)
                #expect(outcome.errors.contains("storeledger receive"), "\(outcome.errors)")
                #expect(outcome.output.isEmpty)
                // The second time, the app is known.
                try await stage.run(path)
            }
        }
    }

    @Test func `RC2 RC3 a closed day that no run, or only a filtered one, has read: 75 with the day`() async throws {
        try await Stage.with(.init(customers: 20)) { stage in
            var job = Self.job(stage)
            job.name = "failures"
            job.streams = ["notificationHistory: {scope: app, startDate: -9d, onlyFailures: true}"]
            let filtered = try await stage.migrated(job)
            try await stage.run(filtered)
            let path = try stage.write(Self.job(stage))
            let book = try stage.book()
            try await book.change(
                """
                INSERT INTO received_notifications (app_id, notification_uuid, version, notification_type, signed_date, received_at,
                                                    last_received_at, body_sha256)
                SELECT 1, 'early', 2, 'DID_RENEW', m, m, m, '' FROM (SELECT date_trunc('day', now(), 'UTC') - interval '1 hour' AS m) t
                """
            )
            let outcome = try await stage.storeledger("reconcile", path)
            outcome.expect(75)
            let day = try await book.column("SELECT (now() AT TIME ZONE 'UTC')::date - 1").first ?? ""
            #expect(outcome.output.contains("\(day): not read yet"), "\(outcome.output)")
            #expect(outcome.errors.contains("storeledger run \(path)"), "\(outcome.errors)")
            try await stage.run(path)
            // A day that a run of another job has read is read.
            let read = try await stage.storeledger("reconcile", filtered)
            #expect(read.output.contains(day) && !read.output.contains("not read yet"), "\(read.output)")
        }
    }

    @Test func `RC4 a word that is no option: 64`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let path = try stage.write(Self.job(stage))
            for option in ["--finall", "--days"] {
                try await stage.storeledger("reconcile", path, option).expect(64)
            }
        }
    }
}
