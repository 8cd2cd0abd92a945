import Glibc
import TestSupport
import Testing

/// What is left when a process is killed without warning.
@Suite(.migratedDatabase)
struct KilledRunTests {
    private static let kills = 4
    private static let concurrency = 8

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a run killed again and again ends like an undisturbed run`(seed: UInt64) async throws {
        try await Stage.with(.init(seed: Int(seed), customers: 25, transactionsPerCustomer: 25)) { stage in
            var job = stage.job
            job.schema = "undisturbed"
            try await stage.run(try await stage.migrated(job))
            let undisturbed = try stage.book(schema: job.schema)
            let pages = try await stage.store.requests().total

            job.schema = "killed"
            let path = try await stage.migrated(job)
            let book = try stage.book(schema: job.schema)
            var random = SeededRandom(seed: seed)
            // On a busy machine the run can end before the signal arrives. Another `run` would then begin run 2.
            var hasEnded = false
            for _ in 1...Self.kills where !hasEnded {
                let moment = try await stage.store.requests().total + Int.random(in: 1...(pages / 5), using: &random)
                try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                    try await stage.store.arrivals(moment) { process.hasEnded }
                    process.signal(SIGKILL)
                    await process.wait()
                }
                try await book.endLeases()
                hasEnded = try await book.count("SELECT count(*) FROM runs WHERE finished_at IS NOT NULL") > 0
            }
            if !hasEnded { try await stage.run(path) }

            for table in LedgerBook.dataTables {
                expectSame(try await book.rows(of: table), try await undisturbed.rows(of: table), table)
            }
            for counter in ["page_count", "page_seq", "rows_new + rows_updated + rows_unchanged + records_rejected"] {
                let sql = "SELECT sum(\(counter)) FROM crawl_items"
                #expect(try await book.count(sql) == undisturbed.count(sql), "\(counter)")
            }
            #expect(try await book.column("SELECT DISTINCT state FROM crawl_items") == ["done"])
            #expect(try await book.count("SELECT count(*) FROM runs") == 1)
            let asked = try await stage.store.requests().total - pages
            #expect(asked >= pages && asked <= pages + Self.kills * Self.concurrency)
        }
    }

    @Test func `a living process takes over what a killed one had leased`() async throws {
        try await Stage.with(.init(customers: 40)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.limits = "{concurrency: 8, share: 1, requestsPerSecond: {transactionHistory: 15}}"
            let path = try await stage.migrated(job)
            let book = try stage.book()
            let owners = "SELECT DISTINCT lease_owner FROM crawl_items WHERE lease_owner IS NOT NULL"
            let arguments = ["run", path, "--progress", "plain"]

            try await stage.withStoreledger(arguments) { victim in
                try await stage.store.arrivals(3) { victim.hasEnded }
                let owner = try #require(try await book.column(owners).first)
                try await stage.withStoreledger(arguments) { survivor in
                    #expect(await survivor.errorLine(with: "continuing run 1") != nil)
                    try await poll { try await book.column(owners).count >= 2 || survivor.hasEnded }
                    victim.signal(SIGKILL)
                    await victim.wait()
                    let left = try await book.change(
                        "UPDATE crawl_items SET claimable_at = clock_timestamp() WHERE lease_owner = '\(owner)'"
                    )
                    #expect(left > 0)
                    #expect(await survivor.wait() == 0, "\(survivor.errors)")
                }
            }
            #expect(try await book.column("SELECT DISTINCT state FROM crawl_items") == ["done"])
            expectNone(try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("transaction") })
        }
    }
}
