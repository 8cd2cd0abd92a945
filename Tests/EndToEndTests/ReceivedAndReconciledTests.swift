import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// A receiver and a store that posts to it, as in production, and the proof that nothing was missed.
@Suite(.migratedDatabase)
struct ReceivedAndReconciledTests {
    private static let pending =
        "SELECT count(*) FROM received_notifications WHERE normalised_at IS NULL AND refused_because IS NULL"

    /// Runs a receiver in front of a store that posts its notifications; an hour of Apple's is 0.1 s.
    private func receiving(
        _ change: (inout JobText) -> Void = { _ in },
        _ body: (Stage, LedgerBook, _ job: String, _ receiver: ChildProcess) async throws -> Void
    ) async throws {
        // Free again once the listener is gone.
        let port = try LoopbackListener().port
        var options = SimulatedStore.Options(customers: 12)
        options.secondsSinceAnchor = 3 * 86_400
        options.arguments = ["--notify-url", "http://127.0.0.1:\(port)/notifications", "--retry-speed", "36000"]
        try await Stage.with(options) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: lastRun}"]
            change(&job)
            let path = try await stage.migrated(job)
            try await stage.withStoreledger(["receive", path, "--listen", "127.0.0.1:\(port)"]) { receiver in
                try await poll {
                    (try? await LoopbackHTTP(port: port).get("/health"))?.status == 200 || receiver.hasEnded
                }
                try await body(stage, try stage.book(), path, receiver)
                receiver.signal(15)
                #expect(await receiver.wait() == 0, "\(receiver.errors)")
            }
        }
    }

    /// Noon of the last day that is over in UTC, in milliseconds since 1970.
    private static var yesterday: Int64 {
        let day: Int64 = 86_400_000
        return (Int64(Date.now.timeIntervalSince1970 * 1_000) / day - 1) * day + day / 2
    }

    @Test func `what the receiver got is in the history, and what Apple could not deliver is recovered`()
        async throws
    {
        try await receiving { stage, book, job, _ in
            try await stage.store.setDeliveryFaults(
                #"{"rules": [{"fault": "drop", "everyNth": 4, "result": "TIMED_OUT"}, {"fault": "loseAnswer", "everyNth": 3}]}"#
            )
            try await stage.store.advance(changes: 20, from: Self.yesterday)
            try await poll { try await stage.store.deliveries().allSatisfy { $0.nextAttemptDate == nil } }
            try await poll { try await book.count(Self.pending) == 0 }
            try await stage.run(job)
            let outcome = try await stage.storeledger("reconcile", job)
            outcome.expect(0)
            #expect(outcome.output.contains("recovered by the crawl (TIMED_OUT"), "\(outcome.output)")
            let sums = """
                SELECT concat_ws(' ', sum(in_history), sum(received_and_in_history), sum(recovered))
                  FROM notification_reconciliation
                """
            #expect(try await book.column(sums) == ["20 15 5"])
            let recent = "SELECT count(*) FROM notifications WHERE signed_date >= now() - interval '2 days'"
            #expect(try await book.count(recent) == 20)
            let status = try await stage.storeledger("status", job)
            #expect(status.output.contains("from Apple's signature to the row: median"), "\(status.output)")

            // A notification that the receiver lost after its answer is found, and is in the ledger all the same. It is not the
            // first one signed, because days are compared from the first received one on.
            let lost = try #require(
                try await book.column(
                    """
                    SELECT notification_uuid FROM received_notifications r
                      JOIN notification_send_attempts a USING (app_id, notification_uuid)
                     WHERE a.send_attempt_result = 'SUCCESS' ORDER BY r.signed_date DESC LIMIT 1
                    """
                ).first
            )
            try await book.change("DELETE FROM received_notifications WHERE notification_uuid = '\(lost)'")
            // Otherwise an attempt from before the first receipt would count as one to another server.
            try await book.change("UPDATE received_notifications SET received_at = received_at - interval '1 hour'")
            let lossy = try await stage.storeledger("reconcile", job)
            lossy.expect(2)
            #expect(lossy.output.contains("answered but missing, such as \(lost)"), "\(lossy.output)")
        }
    }

    @Test func `a job with changedSince requests the customers of notifications that only the receiver has`()
        async throws
    {
        try await receiving({ $0.transactionIds = "{changedSince: lastRun}" }) { stage, book, job, _ in
            try await stage.run(job)
            try await stage.store.setDeliveryFaults(#"{"rules": [{"fault": "unlist"}]}"#)
            _ = try await stage.store.advance(changes: 6)
            try await poll { try await stage.store.deliveries().allSatisfy { $0.answered > 0 } }
            try await poll { try await book.count(Self.pending) == 0 }
            let named = """
                SELECT count(DISTINCT original_transaction_id) FROM received_notifications WHERE original_transaction_id IS NOT NULL
                """
            #expect(try await book.count(named) > 0)
            try await stage.run(job)
            let requested = "SELECT count(*) FROM crawl_items WHERE stream = 'transactionHistory' AND run_id = 2"
            #expect(try await book.count(requested) > 0)
            let transactions = """
                SELECT count(*) FROM received_notifications r JOIN transactions t USING (app_id, original_transaction_id)
                """
            #expect(try await book.count(transactions) > 0)
        }
    }
}
