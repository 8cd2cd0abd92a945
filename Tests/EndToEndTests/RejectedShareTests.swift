import FoundationEssentials
import TestSupport
import Testing

/// When records that fail verification stop a run, and how often.
@Suite(.migratedDatabase)
struct RejectedShareTests {
    private static func job(of stage: Stage) -> JobText {
        var job = stage.job
        job.streams = ["transactionHistory: {}"]
        // One worker, so that the pages come in one order.
        job.limits = "{concurrency: 1, share: 1, requestsPerSecond: {transactionHistory: 100000}}"
        return job
    }

    private static let items = "SELECT count(*) FROM crawl_items WHERE state = 'done'"
    private static let rejected = "SELECT count(*) FROM rejected_records"

    /// Transactions of the store and customers in it.
    private static func size(of stage: Stage) async throws -> (transactions: Int, customers: Int) {
        let world = try await stage.store.world().split(separator: "\n")
        let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8).split(
            separator: "\n"
        )
        return (world.count { $0.hasPrefix(#"{"kind":"transaction""#) }, list.count - 1)
    }

    @Test func `one bad record in sixty-six costs no second start, even where twenty of them come first`() async throws
    {
        try await Stage.with(.init(customers: 90, transactionsPerCustomer: 25)) { stage in
            let path = try await stage.migrated(Self.job(of: stage))
            let size = try await Self.size(of: stage)
            try await stage.store.setFaults(
                #"{"rules": [{"fault": "wrongBundle", "times": 3}, {"fault": "forgeSignature", "oneIn": 66}]}"#
            )

            let outcome = try await stage.run(path, expecting: 2)

            // In the first pages alone, the share of bad records is high enough to stop a run.
            let pages = try await stage.store.pages(since: 0)
            #expect(pages.prefix(3).flatMap(\.records).count { $0.bad != nil } >= 20)
            let bad = pages.flatMap(\.records).count { $0.bad != nil }
            let book = try stage.book()
            #expect(try await book.count(Self.rejected) == bad)
            #expect(try await book.count(Self.items) == size.customers)
            #expect(try await book.count("SELECT count(*) FROM transactions") == size.transactions - bad)
            #expect(outcome.output.contains("rejected           \(bad)\n"), "\(outcome.output)")
            #expect(try await book.column("SELECT exit_code FROM runs") == ["2"])
        }
    }

    @Test func `one bad record in ten stops a run once, and the same records stop no later start`() async throws {
        try await Stage.with(.init(customers: 150, transactionsPerCustomer: 25)) { stage in
            let path = try await stage.migrated(Self.job(of: stage))
            let size = try await Self.size(of: stage)
            try await stage.store.setFaults(#"{"rules": [{"fault": "forgeSignature", "oneIn": 10}]}"#)

            let stopped = try await stage.storeledger("run", path, "--progress", "none")

            #expect(stopped.code == 76, "\(stopped.errors)")
            #expect(
                stopped.errors.contains("failed verification for the first time, which is 1 in 20 or more"),
                "\(stopped.errors)"
            )
            let book = try stage.book()
            let loaded = try await book.count("SELECT count(*) FROM transactions")
            let met = try await book.count(Self.rejected)
            #expect((1_000..<1_020).contains(loaded + met), "\(loaded) and \(met)")

            let second = try await stage.storeledger("run", path, "--progress", "plain")

            #expect(second.code == 2, "\(second.errors)")
            #expect(second.errors.contains("run 1 was stopped because of rejected records"), "\(second.errors)")
            let rejected = try await book.count(Self.rejected)
            #expect(rejected > met && rejected * 20 >= size.transactions)
            #expect(try await book.count(Self.items) == size.customers)
            #expect(try await book.count("SELECT count(*) FROM transactions") == size.transactions - rejected)

            // Another run meets all of them again, each signed again and so in other bytes.
            let again = try await stage.storeledger("run", path, "--restart", "--progress", "none")
            #expect(again.code == 2, "\(again.errors)")
            #expect(try await book.count("SELECT count(*) FROM quarantined_records") == rejected)
        }
    }

    @Test func `a store of fewer records of which one in ten is bad is crawled whole, and then reported`() async throws
    {
        try await Stage.with(.init(customers: 30, transactionsPerCustomer: 25)) { stage in
            let path = try await stage.migrated(Self.job(of: stage))
            let size = try await Self.size(of: stage)
            try #require((400..<1_000).contains(size.transactions))
            try await stage.store.setFaults(#"{"rules": [{"fault": "forgeSignature", "oneIn": 10}]}"#)

            let told = try await stage.storeledger("run", path, "--progress", "none")

            #expect(told.code == 76, "\(told.errors)")
            let book = try stage.book()
            let rejected = try await book.count(Self.rejected)
            #expect(told.errors.contains("\(rejected) of \(size.transactions) signed records failed"), "\(told.errors)")
            #expect(try await book.count(Self.items) == size.customers)
            let requests = try await stage.store.requests().total
            try await stage.run(path, expecting: 2)
            #expect(try await stage.store.requests().total == requests)
            #expect(try await book.column("SELECT exit_code FROM runs") == ["2"])
        }
    }

    @Test func `a store in which every record is bad stops a run after five pages, at every start`() async throws {
        try await Stage.with(.init(customers: 60, transactionsPerCustomer: 25)) { stage in
            let path = try await stage.migrated(Self.job(of: stage))
            try await stage.store.setFaults(#"{"rules": [{"fault": "forgeSignature"}]}"#)
            for start in 1...2 {
                let stopped = try await stage.storeledger("run", path, "--progress", "none")
                #expect(stopped.code == 76)
                #expect(stopped.errors.contains("Every record of the first 5 pages was rejected"), "\(stopped.errors)")
                // One customer may have no history at all.
                let pages = try await stage.store.pages(since: 0)
                #expect(pages.count { !$0.records.isEmpty } == 5 * start, "\(pages.map(\.records.count))")
            }
        }
    }
}
