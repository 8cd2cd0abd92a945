import FoundationEssentials
import TestSupport
import Testing

/// The page about Iceberg.
@Suite(.migratedDatabase, .timeLimit(.minutes(15)))
struct IcebergTests {
    @Test(
        .enabled("python3, pyarrow or pyiceberg is not installed; .ci/run installs them if it can") {
            await PythonScript.canImport("pyarrow", "pyiceberg.catalog.sql")
        }
    )
    func `an Iceberg table that follows the parts of each night and of an erasure equals a full export`() async throws {
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
                let page = Executables.checkout + "/docs/analysts/iceberg.md"
                let rows = try await PythonScript.run("ParquetReaders/follow_iceberg.py", page, changes, whole)
                #expect((Int(rows.dropLast()) ?? 0) > 100, "\(rows)")
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
}
