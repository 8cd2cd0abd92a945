import Basics
import Ledger
import Postgres

extension JobStatus {
    /// What all jobs of the app have used of Apple's limits.
    struct Budgets: StatusPart {
        let budget: [Budget]

        static let words: KeyValuePairs = ["budget": "spent limits"]
        static let tables = ["rate_scopes", "rate_buckets"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            guard isReadable(context) else { return Self(budget: []) }
            let opens = "greatest(s.closed_until, s.next_at)"
            let budget: [Budget] = try connection.values(
                """
                SELECT s.endpoint, coalesce(sum(b.granted) FILTER (WHERE b.bucket > clock_timestamp() - interval '1 hour'), 0) AS last_hour,
                       CASE WHEN s.closed_until > clock_timestamp() THEN \(Ledger.moment("s.closed_until")) END AS closed_until,
                       CASE WHEN \(opens) > clock_timestamp() + interval '1 second' THEN \(Ledger.moment(opens)) END AS opens_at
                  FROM rate_scopes s LEFT JOIN rate_buckets b USING (app_id, endpoint)
                 WHERE s.app_id = $1 GROUP BY s.app_id, s.endpoint ORDER BY s.endpoint
                """,
                [context.appKey]
            )
            return Self(budget: budget)
        }

        func lines(in status: JobStatus) -> [String] { budget.map(\.line) }
    }

    package var budget: [Budget] { self[Budgets.self]?.budget ?? [] }

    package struct Budget: Codable, Sendable, Equatable {
        package let endpoint: String
        /// Requests granted in the last hour, by every job and machine.
        package let lastHour: Int64
        /// Apple answered 429, and no process sends requests before this moment.
        package let closedUntil: String?
        /// When the next request may be sent; `nil` for at once.
        package let opensAt: String?

        fileprivate var line: String {
            let next = opensAt.map { ", the next one is possible at \($0)" } ?? ""
            let limit = closedUntil.map { ", refused by Apple until \($0) (429)" } ?? next
            return "  used: \(endpoint): \(counted(lastHour, "request")) in the last hour by all jobs of the app, "
                + "failed ones included\(limit)"
        }
    }
}
