import AppStoreModel
package import LedgerSchema
import Postgres

extension Ledger {
    /// Since when an app's notifications were read, for a job that takes its customers from them.
    ///
    /// Customers without a notification since then are not in the ledger. The analyst role can read it.
    ///
    /// - Parameters:
    ///   - key: The app and the job.
    ///   - environment: The app's environment, which determines how long Apple keeps notifications.
    ///   - readable: What the role can read.
    ///   - connection: A session.
    /// - Returns: A date such as `2026-05-27`, the reach of the job's first such run; `nil` for a job with a list of IDs, and
    ///   if any job of the app has completed a run with a list.
    /// - Throws: ``Postgres/PostgresError``.
    static func customersSince(
        _ key: [Cell],
        environment: String,
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> String? {
        let runs = readable.first(of: "runs", "masked_runs")
        let reach = (AppStoreEnvironment(rawValue: environment) ?? .production).notificationReach
        return try connection.run(
            """
            SELECT to_char((min(frozen_now) - make_interval(secs => $3::bigint)) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS since
              FROM \(runs) WHERE app_id = $1 AND job = $2 AND followed_until IS NOT NULL
               AND NOT EXISTS (\(completeLists(in: runs)))
            """,
            key + [.bigint(reach.components.seconds)]
        )[0].textOrNil("since")
    }

    /// Whether a job of the app has completed a run with a list, which adds the customers without a notification.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func hasCompleteList(of app: AppID) async throws -> Bool {
        try await transaction { connection in
            let runs = try Readable(connection).first(of: "runs", "masked_runs")
            return try connection.run(
                "SELECT EXISTS (\(Self.completeLists(in: runs))) AS found",
                [.integer(app.rawValue)]
            )[0]
            .bool("found")
        }
    }

    /// A query for the complete runs with a list; parameter 1 is the app.
    private static func completeLists(in runs: String) -> String {
        """
        SELECT FROM \(runs) listed WHERE listed.app_id = $1 AND listed.listed_ids > 0 AND listed.followed_until IS NULL
           AND NOT listed.is_retry AND listed.finished_at IS NOT NULL AND listed.exit_code IN (0, 2)
        """
    }
}
