package import Basics
import Ledger
package import LedgerSchema
import Postgres

/// What `status` shows for a job with only a receiver.
package struct ReceiverStatus: Codable, Sendable, Equatable {
    package let app: String
    package let environment: String
    package let job: String
    /// `nil` if nothing was ever received.
    package let receiver: JobStatus.Receiver?
    /// The notifications that are stored and are not records yet.
    package let pending: Int64
    /// How long the oldest of them has been waiting, in seconds; `nil` without one.
    package let oldestPendingSeconds: Double?
    /// The refused notifications that are kept, by reason, as in `received_notifications.refused_because`.
    package let refused: [String: Int64]
    /// `nil` if nothing is left to forward and nothing was given up.
    package let forwards: JobStatus.Forwards?
}

extension Ledger {
    /// Reads what is known of the receivers of an app.
    ///
    /// - Parameters:
    ///   - app: The app; `nil` if the ledger does not know it.
    ///   - job: The name of the job file's job.
    /// - Throws: ``Postgres/PostgresError``.
    package func receiverStatus(
        of app: AppID?,
        bundleId: String,
        environment: String,
        job: String
    ) async throws -> ReceiverStatus {
        guard let app else {
            return ReceiverStatus(
                app: bundleId,
                environment: environment,
                job: job,
                receiver: nil,
                pending: 0,
                oldestPendingSeconds: nil,
                refused: [:],
                forwards: nil
            )
        }
        return try await transaction(.readOnlySnapshot) { connection in
            let key = Cell.integer(app.rawValue)
            let pending = try connection.run(
                """
                SELECT count(*) AS notifications, round(extract(epoch FROM now() - min(received_at))::numeric, 3)::text AS seconds
                  FROM received_notifications WHERE app_id = $1 AND normalised_at IS NULL AND refused_because IS NULL
                """,
                [key]
            )[0]
            let refused = try connection.run(
                """
                SELECT refused_because AS reason, count(*) AS notifications FROM received_notifications
                 WHERE app_id = $1 AND refused_because IS NOT NULL GROUP BY 1
                """,
                [key]
            ).map { (try $0.text("reason"), try $0.int64("notifications")) }
            return ReceiverStatus(
                app: bundleId,
                environment: environment,
                job: job,
                receiver: try JobStatus.Receiver.read(key, connection),
                pending: try pending.int64("notifications"),
                oldestPendingSeconds: try pending.textOrNil("seconds").flatMap(Double.init),
                refused: Dictionary(uniqueKeysWithValues: refused),
                forwards: try JobStatus.Forwards.read(app, connection)
            )
        }
    }

    /// The session's role, if it may store notifications and their records.
    ///
    /// - Throws: ``NoReceiverRight``, ``Postgres/PostgresError``.
    package func receiverRole() async throws -> String {
        try await transaction { connection in
            let rights = try connection.run(
                """
                SELECT session_user::text AS role, has_table_privilege('received_notifications', 'INSERT')
                       AND has_table_privilege('notifications', 'INSERT') AND has_table_privilege('signed_payloads', 'INSERT') AS stores
                """,
                []
            )[0]
            let role = try rights.text("role")
            guard try rights.bool("stores") else { throw NoReceiverRight(role: role) }
            return role
        }
    }
}

/// The session's role may not store notifications.
package struct NoReceiverRight: ExplainedError, Sendable {
    package let role: String

    package var status: ExitStatus { .refused }

    package var sentence: String {
        "PostgreSQL's role \(role) has no right to store notifications; use the role of the receiver (storeledger_receiver)"
    }
}
