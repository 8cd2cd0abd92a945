import LedgerSchema
import Postgres

extension Ledger {
    /// Renews the planner's statistics of the tables in `stale_statistics`.
    ///
    /// Statistics contain column values, and keep them after the rows are removed. The transaction that removes a
    /// customer's values names the table in `stale_statistics`, so the tables of a killed process are included. The
    /// call takes seconds for large tables and does not block readers or writers.
    ///
    /// - Throws: ``Postgres/PostgresError``. The next call then includes the same tables.
    package func renewStatistics() async throws {
        try await transaction { _ = try $0.run("SELECT analyze_erased_tables()") }
    }
}

extension RecordWriter {
    /// Adds a table to `stale_statistics`, so that the next refresh renews its statistics.
    func markStatisticsStale(of table: String, on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run("INSERT INTO stale_statistics (table_name) VALUES ($1)", [.text(table)])
    }
}
