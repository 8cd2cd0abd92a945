import FoundationEssentials
import TestSupport
import Testing

/// The pages about Iceberg and Spark: their scripts follow a change export, and compute two metrics.
@Suite(.migratedDatabase)
struct IcebergTests {
    @Test(
        .enabled("python3, pyarrow, duckdb or pyiceberg is not installed; .ci/run installs them if it can") {
            await PythonScript.canImport("duckdb", "pyarrow", "pyiceberg.catalog.sql")
        }
    )
    func `an Iceberg table that follows parts and an erasure equals a full export, and has PostgreSQL's metrics`()
        async throws
    {
        try await Self.follow(with: "ParquetReaders/follow_iceberg.py", of: "iceberg.md")
    }

    @Test(.enabled("python3, pyarrow, pyspark or a Java runtime is not installed") { await hasSpark() })
    func `a copy in Spark that follows parts and an erasure equals a full export, and has PostgreSQL's metrics`()
        async throws
    {
        try await Self.follow(with: "ParquetReaders/follow_spark.py", of: "spark.md")
    }

    @Test(.enabled("python3, pyarrow, pyspark or a Java runtime is not installed") { await hasSpark() })
    func `a copy in Spark follows a table that has no rows in the first part, or in a later one with all rows`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let page = "\(Executables.checkout)/docs/analysts/spark.md"
            let parts = try await PythonScript.run("ParquetReaders/spark_empty_tables.py", page, directory)
            #expect(parts == "5\n")
        }
    }

    private static func hasSpark() async -> Bool {
        let isInstalled = await PythonScript.canImport("pyspark.sql", "pyarrow")
        return await isInstalled ? PythonScript.hasJava() : false
    }

    /// Runs the scripts of a page after a first load, after two nights and an erasure, and again.
    private static func follow(with script: String, of page: String) async throws {
        try await Stage.with(.init(customers: 20, transactionsPerCustomer: 10)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d, endDate: now}"
            let tables = "[transactions, refunds, notifications]"
            job.parquet = "{directory: changes, changes: true, tables: \(tables)}"
            let path = try await stage.migrated(job)
            let (changes, whole) = (stage.store.directory + "/changes", stage.store.directory + "/whole")
            var full = job
            full.name = "whole"
            full.parquet = "{directory: whole, tables: \(tables)}"
            func follow() async throws {
                try await stage.storeledger("export", try stage.write(full)).expect(0)
                let page = "\(Executables.checkout)/docs/analysts/\(page)"
                let lines = try await PythonScript.run(script, page, changes, whole).split(separator: "\n")
                #expect((lines.first.flatMap { Int($0) } ?? 0) > 100, "\(lines)")
                let metrics = try await Self.metrics(in: stage.book())
                expectSame(lines.dropFirst().map(String.init), metrics)
                #expect(metrics.count > 40)
            }
            try await stage.run(path)
            try await follow()
            for _ in 0..<2 {
                _ = try await stage.store.advance(changes: 20)
                try await stage.run(path)
            }
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            let id = try #require(ids.split(separator: "\n").dropFirst(3).first)
            try await stage.storeledger("erase", path, "--yes", "--transaction-id", String(id)).expect(0)
            try await follow()
            // Nothing has changed.
            try await follow()
        }
    }

    /// The metrics of the pages as the ledger's views have them.
    private static func metrics(in book: LedgerBook) async throws -> [String] {
        // The simulated store sells no seats, whose prices only the view knows.
        try await book.column(
            """
            SELECT concat_ws(' ', 0, month, product_id, currency, sum(purchases), sum(gross_milliunits)) FROM revenue_by_month
             WHERE purchases > 0 GROUP BY month, product_id, currency
            UNION ALL
            SELECT concat_ws(' ', 1, day, notification_type, sum(notifications)) FROM notification_health_by_day
             GROUP BY day, notification_type
            """
        )
    }
}
