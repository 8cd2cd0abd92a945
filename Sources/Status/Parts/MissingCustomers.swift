import Basics
import Ledger
import Postgres

extension JobStatus {
    /// Which customers a job that takes them from notifications cannot find.
    struct MissingCustomers: StatusPart {
        /// Customers without a notification since this date are not in the ledger.
        ///
        /// A date such as `2026-05-27`, the earliest of the job's runs; `nil` for a job with a list of IDs, and if the largest
        /// list of the app's runs was long enough, see ``CustomerSources/lacksList``.
        var customersSince: String?
        /// The number of IDs of the largest list of a complete run; `nil` without such a run or ``customersSince``.
        var largestList: Int64?

        static let title = "missing customers"

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let sources = try Ledger.customerSources(context.appKey, context.readable, connection)
            guard sources.lacksList else { return Self() }
            let since = try connection.run(
                """
                SELECT to_char(min(customers_since) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS since
                  FROM \(context.readable.first(of: "runs", "masked_runs")) WHERE app_id = $1 AND job = $2
                """,
                context.jobKey
            )[0].textOrNil("since")
            let hasList = since != nil && sources.largestList > 0
            return Self(customersSince: since, largestList: hasList ? sources.largestList : nil)
        }

        func lines(in status: JobStatus) -> [String] {
            customersSince.map { ["  \(missingCustomers(since: $0, list: largestList))"] } ?? []
        }
    }

    package var customersSince: String? { self[MissingCustomers.self]?.customersSince }
    package var largestList: Int64? { self[MissingCustomers.self]?.largestList }
}

/// What a job without a list of IDs cannot find, in one line; see ``JobStatus/customersSince`` and ``JobStatus/largestList``.
package func missingCustomers(since: String, list: Int64?) -> String {
    let listed = list.map { " or in a list (the largest had \(counted($0, "ID")), fewer than notifications name)" }
    return "customers: only those with a notification since \(since)\(listed ?? ""); "
        + "to add the others, run a job with list, csv or query once"
}
