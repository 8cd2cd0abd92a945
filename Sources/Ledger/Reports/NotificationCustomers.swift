import LedgerSchema
import Postgres

extension Ledger {
    /// Since when an app's notifications were read, for a job that takes its customers from them.
    ///
    /// Customers without a notification since then are not in the ledger. The analyst role can read it.
    ///
    /// - Parameters:
    ///   - sources: Where the app's customers came from.
    ///   - readable: What the role can read.
    /// - Returns: A date such as `2026-05-27`, the earliest of the job's runs; `nil` for a job with a list of IDs, and if the
    ///   largest list of the app's runs is long enough; see ``CustomerSources/lacksList``.
    /// - Throws: ``Postgres/PostgresError``.
    static func customersSince(
        _ key: [Cell],
        _ sources: CustomerSources,
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> String? {
        guard sources.lacksList else { return nil }
        let runs = readable.first(of: "runs", "masked_runs")
        return try connection.run(
            """
            SELECT to_char(min(customers_since) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS since FROM \(runs)
             WHERE app_id = $1 AND job = $2
            """,
            key
        )[0].textOrNil("since")
    }
}
