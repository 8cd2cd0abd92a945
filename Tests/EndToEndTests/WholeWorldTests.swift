import FoundationEssentials
import TestSupport
import Testing

/// What a run makes of a whole store, from the first request to the last CSV file.
@Suite(.migratedDatabase)
struct WholeWorldTests {
    private static let tables = ["transactions", "refunds", "notifications", "renewals"]

    @Test func `a job loads exactly what the store has, into tables and CSV files`() async throws {
        try await Stage.with(.init(customers: 40, transactionsPerCustomer: 20)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d}"
            job.csv = "{directory: out, tables: [\(Self.tables.joined(separator: ", "))]}"
            let path = try await stage.migrated(job)
            try await stage.run(path)

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            for table in Self.tables + [
                "notification_send_attempts", "advanced_commerce_items", "advanced_commerce_refunds",
            ] {
                #expect(try await book.count("SELECT count(*) FROM \(table)") > 0, "\(table)")
            }
            for table in ["rejected_records", "schema_drift", "field_issues", "coverage_gaps"] {
                expectNone(try await book.column("SELECT t FROM \(table) t"), table)
            }
            try await Self.compareFiles(in: stage.store.directory + "/out", with: book)
        }
    }

    /// Every file has exactly its table's rows, and the manifest tells the truth about it.
    private static func compareFiles(in directory: String, with book: LedgerBook) async throws {
        struct Manifest: Decodable {
            struct File: Decodable {
                let file, table, sha256: String
                let rows, bytes: Int
            }
            let job: String
            let run: Int
            let files: [File]
        }
        let manifest = try JSONDecoder().decode(
            Manifest.self,
            from: try Data(contentsOf: URL(filePath: directory + "/manifest.json"))
        )
        #expect(manifest.job == "nightly" && manifest.run == 1)
        #expect(manifest.files.map(\.table) == tables)
        let found = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(Set(found) == Set(manifest.files.map(\.file) + ["manifest.json"]))
        for file in manifest.files {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: directory + "/" + file.file)))
            let records = try CSVText(bytes).records
            #expect(bytes.count == file.bytes)
            #expect(try await book.sha256(of: bytes) == file.sha256)
            #expect(records.count - 1 == file.rows)
            expectNone(try await book.differences(of: file.table, from: records), file.file)
        }
    }

    @Test(
        .enabled("python3, pyarrow or duckdb is not installed; .ci/run installs them if it can") {
            await PythonScript.canImport("duckdb", "pyarrow")
        }
    )
    func `Parquet files have the cells of the CSV files, and the queries of the documentation run on them`()
        async throws
    {
        try await Stage.with(.init(customers: 40, transactionsPerCustomer: 20)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d}"
            job.csv = "{directory: csv, tables: [\(Self.tables.joined(separator: ", "))]}"
            job.parquet = "{directory: parquet, tables: [\(Self.tables.joined(separator: ", "))]}"
            let run = try await stage.run(try await stage.migrated(job))
            let (csv, parquet) = (stage.store.directory + "/csv", stage.store.directory + "/parquet")
            #expect(run.output.contains("Parquet            \(parquet): transactions.parquet ("), "\(run.output)")
            let cells = try await PythonScript.run("ParquetReaders/compare.py", csv, parquet)
            #expect(Int(cells.dropLast()) ?? 0 > 10_000, "\(cells)")
            let page = Executables.checkout + "/docs/reference/parquet.md"
            #expect(try await PythonScript.run("ParquetReaders/run_page.py", page, parquet) == "4\n")
        }
    }

    @Test func `a second run asks once for each item and leaves every row as it is`() async throws {
        try await Stage.with(.init(customers: 20, transactionsPerCustomer: 20)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let versions = try await book.versions()
            let asked = try await stage.store.requests().total

            try await stage.run(path)

            let items = try await book.count("SELECT count(*) FROM crawl_items WHERE run_id = 2")
            #expect(items > 40)
            #expect(try await stage.store.requests().total - asked <= items)
            #expect(try await book.versions() == versions)
        }
    }

    @Test func `the run after a change loads what has changed and nothing else`() async throws {
        try await Stage.with(.init(customers: 20, transactionsPerCustomer: 20)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let written = "SELECT transaction_id FROM transactions WHERE last_run_id = 2"
            let changes = try await stage.store.advance(changes: 30)

            try await stage.run(path)

            expectNone(try await book.differences(from: stage.store.world()))
            #expect(try await Set(book.column(written)) == Set(changes.map(\.transactionId)))
            #expect(
                try await Set(book.column("SELECT notification_uuid FROM notifications WHERE last_run_id = 2"))
                    == Set(changes.map(\.notificationUUID))
            )
            let new = Set(changes.filter(\.isNew).map(\.transactionId))
            #expect(
                try await Set(
                    book.column("\(written) AND first_seen_at >= (SELECT started_at FROM runs WHERE run_id = 2)")
                ) == new
            )
        }
    }

    @Test func `a restart requests everything again and changes no row`() async throws {
        try await Stage.with { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let rows = try await book.versions()
            let asked = try await stage.store.requests().total

            let outcome = try await stage.storeledger("run", path, "--restart", "--progress", "none")

            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try await stage.store.requests().total - asked >= asked)
            #expect(try await book.versions() == rows)
        }
    }
}
