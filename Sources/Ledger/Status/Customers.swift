import Basics
import LedgerSchema
import Postgres

extension Ledger {
    /// Since when an app's notifications were read, for a job that takes its customers from them.
    ///
    /// Customers without a notification since then are not in the ledger. The analyst role can read it.
    ///
    /// - Parameters:
    ///   - key: The app and the job.
    ///   - sources: Where the app's customers came from.
    ///   - readable: What the role can read.
    ///   - connection: A session.
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

/// What a job without a list of IDs cannot find.
///
/// - Parameters:
///   - since: A date such as `2026-05-27`; see ``JobStatus/customersSince``.
///   - list: The number of IDs of the largest list of the app's runs; `nil` without one.
/// - Returns: One line.
package func missingCustomers(since: String, list: Int64?) -> String {
    let listed = list.map { " or in a list (the largest had \(counted($0, "ID")), fewer than notifications name)" }
    return "customers: only those with a notification since \(since)\(listed ?? ""); "
        + "to add the others, run a job with list, csv or query once"
}
