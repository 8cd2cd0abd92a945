import TestSupport
import Testing

/// A job with terms of `retention`, with the built executables.
@Suite(.migratedDatabase)
struct RetentionTests {
    @Test func `a complete run removes what the terms allow, status says it before, and replay and views stay exact`()
        async throws
    {
        try await Stage.with(.init(customers: 10, transactionsPerCustomer: 6)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let book = try stage.book()
            // Earlier snapshots of every transaction, and earlier attempts to send every notification.
            try await book.change(
                """
                INSERT INTO signed_payloads (app_id, kind, record_key, signed_date, payload_sha256, header_id, payload, signature)
                SELECT app_id, kind, record_key, signed_date - interval '1000 days', sha256(payload_sha256), header_id, payload, signature
                  FROM signed_payloads WHERE kind = 'transaction'
                """
            )
            try await book.change(
                """
                INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result)
                SELECT app_id, notification_uuid, min(attempt_date) - interval '1000 days', 'TIMED_OUT' FROM notification_send_attempts GROUP BY 1, 2
                """
            )
            let before = try await counts(book)
            // Without the section nothing is removed.
            let plain = try await stage.run(path)
            #expect(!plain.output.contains("removed"))
            #expect(try await counts(book) == before)
            #expect(try await !stage.storeledger("status", path).output.contains("retention"))

            job.retention = "{archive: 400d, sendAttempts: 400d, items: 30d}"
            try stage.write(job)
            let (payloads, attempts) = (before[0] - before[2], before[1] - before[3])
            let status = try await stage.storeledger("status", path)
            #expect(
                status.output.contains("retention would free: about \(payloads) archived payloads ("),
                "\(status.output)"
            )
            #expect(
                status.output.contains("retention would free: about \(attempts) send attempts ("),
                "\(status.output)"
            )
            let run = try await stage.run(path)
            #expect(run.output.contains("removed            \(payloads) archived payloads ("), "\(run.output)")
            #expect(run.output.contains("removed            \(attempts) send attempts ("), "\(run.output)")
            #expect(run.output.contains("removed            0 items of superseded runs"), "\(run.output)")
            #expect(try await counts(book) == [before[2], before[3], before[2], before[3]])
            let again = try await stage.storeledger("run", path, "--progress", "none", "--json")
            #expect(again.code == 0)
            #expect(
                again.output.contains("\"part\" : \"archive\"") && again.output.contains("\"rows\" : 0"),
                "\(again.output)"
            )

            for arguments in [["refresh", path, "--verify"], ["replay", path], ["refresh", path, "--verify"]] {
                let outcome = try await stage.withStoreledger(arguments) { process in
                    (code: await process.wait(), text: process.errors + process.output)
                }
                #expect(outcome.code == 0, "\(arguments): \(outcome.text)")
            }
            expectNone(try await book.differences(from: stage.store.world()))
            expectNone(try await book.column("SELECT t FROM rejected_records t"))
        }
    }

    /// Payloads of transactions and send attempts, then the same of the last 900 days.
    private func counts(_ book: LedgerBook) async throws -> [Int] {
        var counts: [Int] = []
        for condition in ["true", "signed_date > now() - interval '900 days'"] {
            counts.append(
                try await book.count("SELECT count(*) FROM signed_payloads WHERE kind = 'transaction' AND \(condition)")
            )
            counts.append(
                try await book.count(
                    "SELECT count(*) FROM notification_send_attempts WHERE \(condition.replacing("signed_date", with: "attempt_date"))"
                )
            )
        }
        return counts
    }
}
