package import Basics
import Postgres

extension Ledger {
    /// Renews the planner's statistics of the tables in `stale_statistics`.
    ///
    /// Statistics contain column values, and keep them after the rows are removed. The transaction that removes a
    /// customer's values names the table in `stale_statistics`, so the tables of a killed process are included. The
    /// call takes seconds for large tables and does not block readers or writers.
    ///
    /// - Throws: ``StaleStatistics`` if it failed for a table, ``Postgres/PostgresError``. The next call then includes the same
    ///   tables.
    package func renewStatistics() async throws {
        try await transaction { _ = try $0.run("SELECT analyze_erased_tables()") }
        if let stale = try await staleStatistics(), stale.failure != nil { throw stale }
    }

    /// The tables whose statistics an erasure has still to renew; `nil` if there are none.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func staleStatistics() async throws -> StaleStatistics? {
        try await transaction { connection in
            let row = try connection.run(
                """
                SELECT coalesce(string_agg(DISTINCT table_name, ', ' ORDER BY table_name), '') AS tables,
                       \(Self.moment("min(since)")) AS since, max(failure) AS failure
                  FROM stale_statistics
                """
            )[0]
            guard let since = try row.textOrNil("since") else { return nil }
            return StaleStatistics(
                tables: try row.text("tables"),
                since: since,
                failure: try row.textOrNil("failure")
            )
        }
    }
}

/// Tables whose planner statistics can still contain values of erased customers.
package struct StaleStatistics: ExplainedError, Sendable, Equatable {
    /// Their names, with commas.
    package let tables: String
    /// When the first of them was changed by an erasure.
    package let since: String
    /// Why renewing them failed; `nil` if it was not tried.
    package let failure: String?

    package var status: ExitStatus { .completeWithLosses }

    package var sentence: String {
        "the planner's statistics of \(tables) can contain values of customers who were erased since \(since)\(failure.map { ": \($0)" } ?? "")"
            + "; storeledger refresh renews them"
    }
}

extension RecordWriter {
    /// Adds a table to `stale_statistics`, so that the next refresh renews its statistics.
    func markStatisticsStale(of table: String, on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run("INSERT INTO stale_statistics (table_name) VALUES ($1)", [.text(table)])
    }
}
