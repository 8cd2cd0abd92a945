import FoundationEssentials
import TestSupport
import Testing

/// `migrate --partitions`, with the built executables.
@Suite(.temporaryDatabase)
struct PartitionTests {
    @Test func `a partitioned ledger has the rows of a plain one after runs, a replay, a refresh and an erasure`()
        async throws
    {
        try await Stage.with(.init(customers: 25, transactionsPerCustomer: 12)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d}"
            let plain = try await stage.migrated(job)
            job.name = "divided"
            job.schema = "divided"
            let divided = try stage.write(job)
            let made = try await stage.storeledger("migrate", divided, "--partitions", "3")
            #expect(made.code == 0 && made.output.contains("into 3 partitions each"), "\(made.errors)\(made.output)")
            let customer = try #require(
                try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8).split(separator: "\n")
                    .dropFirst().first
            )
            for path in [plain, divided] {
                try await stage.run(path)
                // The second run finds everything unchanged.
                try await stage.run(path)
                for arguments in [
                    ["replay", path], ["refresh", path], ["refresh", path, "--verify"],
                    ["erase", path, "--yes", "--transaction-id", String(customer)], ["replay", path],
                ] {
                    let outcome = try await stage.withStoreledger(arguments) { process in
                        (code: await process.wait(), text: process.errors + process.output)
                    }
                    #expect(outcome.code == 0, "\(arguments): \(outcome.text)")
                }
            }
            let (left, right) = (try stage.book(), try stage.book(schema: "divided"))
            #expect(
                try await right.count("SELECT count(*) FROM pg_inherits WHERE inhparent = 'transactions'::regclass")
                    == 3
            )
            // Which older snapshots of a record the archive has depends on the order in which pages come.
            let archived = "SELECT DISTINCT (kind, record_key) FROM signed_payloads ORDER BY 1"
            #expect(try await left.column(archived) == right.column(archived))
            for table in LedgerBook.dataTables where table != "signed_payloads" {
                let rows = try await left.rows(of: table)
                let other = try await right.rows(of: table)
                #expect(rows == other, "\(table): \(rows.count) and \(other.count) rows")
            }
            // The windows of notifications begin at the time of the run.
            let items =
                "SELECT (stream, item_key, state) FROM crawl_items WHERE stream <> 'notificationHistory' ORDER BY 1"
            #expect(try await left.column(items) == right.column(items))
            #expect(try await right.count("SELECT count(*) FROM transactions") > 0)
        }
    }

    @Test func `D31 another number of partitions, or one for a ledger with rows, is 78 and names both`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let late = try await stage.storeledger("migrate", path, "--partitions", "4")
            #expect(late.code == 78 && late.output == "")
            #expect(
                late.errors.contains("--partitions 4: ") && late.errors.contains("tables without partitions (0)"),
                "\(late.errors)"
            )
            #expect(late.errorLines.count == 1)

            var job = stage.job
            job.name = "divided"
            job.schema = "divided"
            let divided = try stage.write(job)
            for (number, code) in [("4", 0), ("4", 0), ("8", 78), ("1", 64), ("257", 64), ("x", 64)]
                as [(String, Int32)]
            {
                let outcome = try await stage.storeledger("migrate", divided, "--partitions", number)
                #expect(outcome.code == code, "\(number): \(outcome.errors)")
                guard code == 78 else { continue }
                #expect(
                    outcome.errors.contains("--partitions 8: ") && outcome.errors.contains("4 partitions"),
                    "\(outcome.errors)"
                )
            }
        }
    }
}
