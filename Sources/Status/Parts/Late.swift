import Basics
import Ledger
import Postgres

extension JobStatus {
    /// Notifications that were found only by the second reading of their day, because they entered Apple's history
    /// late.
    package struct Late: StatusPart, Equatable {
        /// The number in all runs of the job.
        package let notifications: Int64
        /// The last run that found some.
        package let run: Int64
        /// The number that this run found.
        package let inRun: Int64
        /// The notificationUUID of one of them.
        package let example: String
        /// When Apple signed the example.
        package let signedAt: String

        static let key: String? = "late"
        static let title = "late notifications"

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let notifications = context.readable.first(of: "notifications", "masked_notifications")
            let runs = context.readable.first(of: "runs", "masked_runs")
            return try connection.value(
                """
                WITH late AS (
                    SELECT n.late_run_id, n.notification_uuid, n.signed_date FROM \(notifications) n
                      JOIN \(runs) r ON r.app_id = n.app_id AND r.run_id = n.late_run_id
                     WHERE n.app_id = $1 AND n.late_run_id IS NOT NULL AND r.job = $2
                )
                SELECT count(*) OVER () AS notifications, late_run_id AS run, count(*) OVER (PARTITION BY late_run_id) AS in_run,
                       notification_uuid AS example, \(Ledger.moment("signed_date")) AS signed_at
                  FROM late ORDER BY late_run_id DESC, late.signed_date, notification_uuid LIMIT 1
                """,
                context.jobKey
            )
        }

        func lines(in status: JobStatus) -> [String] {
            let found = "\(counted(notifications, "notification")) found only by the second reading of the day"
            return ["  late: \(found); \(inRun) in run \(run), such as \(example), signed \(signedAt)"]
        }
    }

    package var late: Late? { self[Late.self] }
}
