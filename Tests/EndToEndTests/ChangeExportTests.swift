import FoundationEssentials
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct ChangeExportTests {
    @Test(
        .enabled("python3, pyarrow or duckdb is not installed; .ci/run installs them if it can") {
            await PythonScript.canImport("duckdb", "pyarrow")
        }
    )
    func `the parts of several nights and an erasure, applied by key, are a full export`() async throws {
        try await Stage.with(.init(customers: 30, transactionsPerCustomer: 12)) { stage in
            let tables =
                "[transactions, refunds, notifications, notification_send_attempts, renewals, advanced_commerce_items]"
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d, endDate: now}"
            job.parquet = "{directory: changes, changes: true, tables: \(tables)}"
            let path = try await stage.migrated(job)
            let first = try await stage.run(path)
            #expect(first.output.contains("transactions/dt="), "\(first.output)")
            // Nothing has changed.
            let second = try await stage.run(path)
            #expect(second.output.contains("no changes\n"), "\(second.output)")
            for _ in 0..<2 {
                _ = try await stage.store.advance(changes: 20)
                try await stage.run(path)
            }
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8).split(
                separator: "\n"
            )
            let erased = try await stage.storeledger("erase", path, "--yes", "--transaction-id", String(ids[3]))
            #expect(erased.code == 0 && erased.output.contains("transactions-deleted/dt="), "\(erased)")

            var whole = job
            whole.name = "whole"
            whole.parquet = "{directory: whole, tables: \(tables)}"
            try await stage.storeledger("export", try stage.write(whole)).expect(0)
            let (changes, full) = (stage.store.directory + "/changes", stage.store.directory + "/whole")
            let figures = try await PythonScript.run("ParquetReaders/apply_parts.py", changes, full)
            let counts = figures.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            #expect(counts.count == 3 && counts[0] == 4 && counts[2] > 12, "\(figures)")
            // The query of the documentation finds the same rows.
            let page = Executables.checkout + "/docs/reference/change-exports.md"
            #expect(try await PythonScript.run("ParquetReaders/run_page.py", page, changes) == "1\n")
            // CSV and --changes without the key in the job file.
            whole.parquet = nil
            whole.csv = "{directory: csv, tables: [transactions]}"
            let again = try await stage.storeledger("export", try stage.write(whole), "--changes", "--format", "csv")
            #expect(again.code == 0 && again.output.hasPrefix("transactions/dt="), "\(again)")
        }
    }

    @Test func `a table whose changes are not logged is refused`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            var job = stage.job
            job.csv = "{directory: out, tables: [runs], changes: true}"
            let validated = try await stage.storeledger("validate", try stage.write(job))
            #expect(validated.code == 65, "\(validated)")
            #expect(
                validated.errors.contains("output.csv.tables names runs, whose changes cannot be published"),
                "\(validated)"
            )
            job.csv = "{directory: out, tables: [runs]}"
            let path = try await stage.migrated(job)
            let export = try await stage.storeledger("export", path, "--changes")
            #expect(export.code == 65 && export.errors.contains("the changes of runs cannot be published"), "\(export)")
        }
    }
}
