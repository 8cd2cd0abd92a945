import AppStoreModel
import LedgerSchema
import Postgres

extension Ledger {
    /// Since when an app's notifications were read, for a job that takes its customers from them.
    ///
    /// Customers without a notification since then are not in the ledger. The analyst role can read it.
    ///
    /// - Parameters:
    ///   - key: The app and the job.
    ///   - environment: The app's environment, which determines how long Apple keeps notifications.
    ///   - sources: Where the app's customers came from.
    ///   - readable: What the role can read.
    ///   - connection: A session.
    /// - Returns: A date such as `2026-05-27`, the reach of the job's first such run; `nil` for a job with a list of IDs, and
    ///   if the largest list of the app's runs is long enough; see ``CustomerSources/lacksList``.
    /// - Throws: ``Postgres/PostgresError``.
    static func customersSince(
        _ key: [Cell],
        environment: String,
        _ sources: CustomerSources,
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> String? {
        guard sources.lacksList else { return nil }
        let runs = readable.first(of: "runs", "masked_runs")
        let reach = (AppStoreEnvironment(rawValue: environment) ?? .production).notificationReach
        return try connection.run(
            """
            SELECT to_char((min(frozen_now) - make_interval(secs => $3::bigint)) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS since
              FROM \(runs) WHERE app_id = $1 AND job = $2 AND followed_until IS NOT NULL
            """,
            key + [.bigint(reach.components.seconds)]
        )[0].textOrNil("since")
    }
}
