import Basics
import Postgres

extension JobStatus {
    /// Tokens of external purchases of the app that are to be reported within ``days`` days, or should have been.
    package struct ExternalPurchases: StatusPart, Equatable {
        /// How long before its deadline a token is due.
        static let days = 3

        package let tokensDue: Int64
        /// The first deadline.
        package let reportBy: String

        static let key: String? = "externalPurchases"
        static let words: KeyValuePairs = ["externalPurchases": "external purchases"]
        static let tables = ["external_purchase_tokens"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try connection.value(
                """
                SELECT count(*) AS tokens_due, to_char(min(report_by) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS report_by
                  FROM external_purchase_tokens
                 WHERE app_id = $1 AND state = 'UNREPORTED' AND report_by < now() + \(days) * interval '1 day'
                HAVING count(*) > 0
                """,
                [context.appKey]
            )
        }

        func lines(in status: JobStatus) -> [String] {
            [
                "  external purchases: \(counted(tokensDue, "token")) without a report, the first due by \(reportBy); see "
                    + "docs/guides/external-purchases.md"
            ]
        }
    }

    package var externalPurchases: ExternalPurchases? { self[ExternalPurchases.self] }
}
