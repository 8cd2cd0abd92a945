import Ledger
import Postgres

extension JobStatus {
    /// The rejected records of the job that are neither loaded since nor dismissed.
    struct Rejects: StatusPart {
        let rejected: [Reject]

        static let title = "rejected records"

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let readable = context.readable
            let apps = readable.first(of: "apps", "masked_apps")
            let records =
                readable.contains("rejected_records")
                ? "SELECT app_id, job, reason, 1 AS records, detail FROM rejected_records WHERE resolved_at IS NULL AND dismissed_at IS NULL"
                : "SELECT app_id, job, reason, records, NULL::text AS detail FROM rejected_records_by_reason"
            let rejected: [Reject] = try connection.values(
                """
                SELECT reason, sum(records)::bigint AS records, min(detail) AS detail FROM (\(records)) rejected
                 WHERE app_id IN (\(Ledger.appsOfRejects(apps: apps, runs: readable.first(of: "runs", "masked_runs"))))
                   AND job = $2
                 GROUP BY reason ORDER BY 2 DESC, reason
                """,
                context.jobKey
            )
            return Self(rejected: rejected)
        }

        func lines(in status: JobStatus) -> [String] {
            rejected.map { reject in
                let example = reject.detail.map { ", such as: \($0)" } ?? ""
                return "  rejected: \(reject.records) for \(reject.reason)\(example)"
            }
        }
    }

    package var rejected: [Reject] { self[Rejects.self]?.rejected ?? [] }

    package struct Reject: Codable, Sendable, Equatable {
        package let reason: String
        package let records: Int64
        /// What was found in one of them; `nil` for a role without the privilege to read it.
        package let detail: String?
    }
}
