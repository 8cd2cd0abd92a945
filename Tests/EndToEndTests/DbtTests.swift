import FoundationEssentials
import TestSupport
import Testing

/// The dbt package in `dbt/`.
@Suite(.migratedDatabase, .startsEarly)
struct DbtTests {
    @Test(
        .enabled(
            "python3 with dbt-core, dbt-duckdb, dbt-postgres and dbt-metricflow is not installed; .ci/run installs them if it can"
        ) {
            await PythonScript.canImport(
                "dbt.adapters.duckdb",
                "dbt.adapters.postgres",
                "dbt.cli.main",
                "dbt_metricflow.cli.main"
            )
        }
    )
    func
        `the dbt package builds on PostgreSQL and on DuckDB, and its models and metrics have the figures of the ledger's views`()
        async throws
    {
        // Purchases under two transaction IDs count once.
        let faults = #"{"rules": [{"endpoint": "transactionHistory", "fault": "secondTransactionId", "oneIn": 5}]}"#
        try await Stage.with(.init(customers: 40, transactionsPerCustomer: 12, faults: faults)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d, endDate: now}"
            job.parquet =
                "{directory: out, tables: [transactions, refunds, renewals, notifications, advanced_commerce_refunds, runs]}"
            try await stage.run(try await stage.migrated(job))
            // The row of the run is complete only after the files are written.
            let path = try stage.write(job)
            try await stage.storeledger("export", path).expect(0)
            let package = Executables.checkout + "/dbt"
            let before = Set(try FileManager.default.subpathsOfDirectory(atPath: package))
            let figures = try await PythonScript.run(
                "Dbt/build_package.py",
                package,
                stage.store.directory + "/out",
                stage.databaseURL(),
                "appstore",
                stage.store.directory
            )
            let rows = Dictionary(
                uniqueKeysWithValues: figures.split(separator: "\n").map { line in
                    let words = line.split(separator: " ")
                    return (String(words[0]), Int(words[1]) ?? 0)
                }
            )
            #expect(rows.count == 10 && rows.values.allSatisfy { $0 > 3 }, "\(figures)")
            for name in ["monthly_revenue", "subscriptions", "daily_notifications", "revenue_by_month"] {
                #expect(rows[name].map { $0 > 10 } == true, "\(name): \(figures)")
            }
            #expect(try Set(FileManager.default.subpathsOfDirectory(atPath: package)) == before)
        }
    }
}
