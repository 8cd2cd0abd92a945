import FoundationEssentials
import TestSupport
import Testing

/// Records that Apple sends damaged once and intact later.
@Suite(.migratedDatabase)
struct RejectedOnceTests {
    private static let forged = #"{"rules": [{"fault": "forgeSignature", "oneIn": 15}]}"#
    private static let none = #"{"rules": []}"#
    private static let counted = "SELECT count(*) FROM rejected_records WHERE resolved_at IS NULL"

    @Test(arguments: [
        "csv: {path: ids.csv, column: transaction_id}", "changedSince: lastRun",
    ])
    func `the next run loads what Apple sent damaged, and the alert ends`(transactionIds: String) async throws {
        try await Stage.with(.init(customers: 12, transactionsPerCustomer: 25)) { stage in
            var job = stage.job
            job.transactionIds = transactionIds
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d, endDate: now}"
            let path = try await stage.migrated(job)
            let book = try stage.book()
            try await stage.store.setFaults(Self.forged)
            try await stage.run(path, expecting: 2)
            #expect(try await book.count(Self.counted) > 5)
            let streams = try await book.column("SELECT DISTINCT stream FROM rejected_records ORDER BY 1")
            #expect(streams.contains("transactionHistory") && streams.contains("notificationHistory"), "\(streams)")

            try await stage.store.setFaults(Self.none)
            try await stage.run(path)

            #expect(try await book.count(Self.counted) == 0)
            if transactionIds.hasPrefix("csv") { expectNone(try await book.differences(from: stage.store.world())) }
            #expect(try await !stage.storeledger("status", path).output.contains("  rejected: "))
            // Nothing is requested from its first page any more.
            let third = try await stage.run(path)
            #expect(third.output.contains("rows               0 new, 0 updated, "), "\(third.output)")
            let pages = try await book.column(

                "SELECT item_key FROM crawl_items WHERE cursor IS NULL AND stream = 'transactionHistory'"
            )
            expectNone(pages)
        }
    }

    @Test func `a retry reads an item with rejected records from its first page`() async throws {
        try await Stage.with(.init(customers: 1, transactionsPerCustomer: 60)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let path = try await stage.migrated(job)
            let book = try stage.book()
            // The first page has bad records, and the second one is refused.
            try await stage.store.setFaults(
                #"""
                {"rules": [{"endpoint": "transactionHistory", "everyNth": 2, "times": 1, "fault": "status", "status": 404,
                            "errorCode": 4040010, "errorMessage": "x"}, {"fault": "forgeSignature", "oneIn": 3}]}
                """#
            )
            try await stage.run(path, expecting: 2)
            #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE state = 'failed'") == 1)
            #expect(try await book.count(Self.counted) > 0)

            try await stage.store.setFaults(Self.none)
            let retry = try await stage.storeledger("retry", path)

            #expect(retry.code == 0, "\(retry.errors)\(retry.output)")
            #expect(try await book.count(Self.counted) == 0)
            #expect(try await book.count("SELECT count(*) FROM transactions") == 60)
        }
    }
}
