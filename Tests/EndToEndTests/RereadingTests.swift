import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Notifications that a nightly job reads again, by real runs against a real server.
@Suite(.migratedDatabase)
struct RereadingTests {
    private static func job(_ stage: Stage) -> JobText {
        var job = stage.job
        job.transactionIds = nil
        job.streams = ["notificationHistory: {scope: app, startDate: lastRun}"]
        return job
    }

    /// Notifications that were served since a page.
    private func served(since page: Int, by store: SimulatedStore) async throws -> Set<String> {
        let records = try await store.pages(since: page).flatMap(\.records)
        return Set(records.filter { $0.kind == "notification" }.map(\.key))
    }

    @Test func `the run after another reads failed deliveries of seven days again, and no others`() async throws {
        // So many customers that some delivery has failed in seven days, at any hour.
        try await Stage.with(.init(customers: 300, transactionsPerCustomer: 6)) { stage in
            let path = try await stage.migrated(Self.job(stage))
            try await stage.run(path)
            let pages = try await stage.store.pages(since: 0).count
            try await stage.run(path)

            let book = try stage.book()
            let windows = "crawl_items WHERE run_id = (SELECT max(run_id) FROM runs)"
            #expect(try await book.count("SELECT count(*) FROM \(windows) AND item_key LIKE 'failures#%'") == 1)
            let failuresStart = "(SELECT window_start FROM \(windows) AND item_key LIKE 'failures#%')"
            let newStart = "(SELECT min(window_start) FROM \(windows) AND item_key LIKE '%..%')"
            let undelivered = """
                SELECT notification_uuid FROM undelivered_notifications
                 WHERE signed_date >= \(failuresStart) AND signed_date < \(newStart)
                """
            let failed = try await book.column(undelivered)
            #expect(!failed.isEmpty)
            let expected = try await book.column(
                "SELECT notification_uuid FROM notifications WHERE signed_date >= \(newStart) UNION \(undelivered)"
            )
            #expect(try await served(since: pages, by: stage.store) == Set(expected))
            // Nothing has changed since the first run, so nothing was written.
            #expect(
                try await book.count("SELECT sum(rows_new + rows_updated) FROM runs WHERE run_id > 1") == 0
            )
        }
    }

    @Test func `runs killed on two machines read each due day once more, and find what came late`() async throws {
        try await Stage.with(.init(customers: 150, transactionsPerCustomer: 6)) { stage in
            let path = try await stage.migrated(Self.job(stage))
            try await stage.run(path)
            let book = try stage.book()
            // Pretend that the run took place 15 days ago, before two of its notifications were in Apple's history.
            try await book.change("UPDATE runs SET frozen_now = frozen_now - interval '15 days'")
            let late = try await book.column(
                """
                SELECT notification_uuid FROM notifications
                 WHERE signed_date BETWEEN now() - interval '14 days' AND now() - interval '9 days' ORDER BY 1 LIMIT 2
                """
            )
            try #require(late.count == 2)
            let names = late.map { "'\($0)'" }.joined(separator: ", ")
            try await book.change("DELETE FROM notification_send_attempts WHERE notification_uuid IN (\(names))")
            try await book.change("DELETE FROM notifications WHERE notification_uuid IN (\(names))")
            let due = try await book.count(
                """
                SELECT count(*) FROM crawl_items
                 WHERE window_end <= now() - interval '7 days' AND window_end > now() - interval '22 days'
                """
            )
            #expect(due == 15)

            try await stage.store.setFaults(#"{"rules": [{"fault": "delay", "milliseconds": 150}]}"#)
            let arguments = ["run", path, "--progress", "none", "--concurrency", "1"]
            for _ in 0..<2 {
                let before = try await stage.store.requests().total
                try await stage.withStoreledger(arguments) { first in
                    try await stage.withStoreledger(arguments) { second in
                        try await stage.store.arrivals(before + 5) { first.hasEnded && second.hasEnded }
                        first.signal(9)
                        second.signal(15)
                        _ = await (first.wait(), second.wait())
                    }
                }
            }
            try await book.endLeases()
            try await stage.store.setFaults(#"{"rules": []}"#)
            try await stage.run(path)

            let second = "crawl_items WHERE item_key LIKE '%+second'"
            #expect(try await book.count("SELECT count(*) FROM \(second) AND state = 'done'") == due)
            #expect(
                try await book.column("SELECT notification_uuid FROM notifications WHERE late_run_id = 2 ORDER BY 1")
                    == late
            )
            let status = try await stage.storeledger("status", path)
            let line = "late: 2 notifications found only by the second reading of the day; 2 in run 2"
            #expect(status.output.contains(line), "\(status.output)")
            struct Status: Decodable {
                struct Late: Decodable { let notifications: Int, run: Int, inRun: Int, example: String }
                let late: Late
            }
            let json = try await stage.storeledger("status", path, "--json")
            let told = try JSONDecoder().decode(Status.self, from: Data(json.output.utf8)).late
            #expect(told.notifications == 2 && told.inRun == 2 && late.contains(told.example))

            let before = try await stage.store.requests().total
            try await stage.run(path)
            #expect(try await book.count("SELECT count(*) FROM \(second)") == due)
            // One window, or two across midnight, with an hour of overlap; and the window of failed deliveries.
            let asked = try await book.count("SELECT items FROM runs ORDER BY run_id DESC LIMIT 1")
            #expect(asked <= 3)
            let sent = try await stage.store.requests().total - before
            #expect(sent >= asked && sent <= asked + 4)
        }
    }
}
