import Ledger
import Postgres

extension JobStatus {
    /// The items of the last run.
    struct Items: StatusPart {
        let items: [StreamItems]

        static let title = "items"

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let items = """
                SELECT stream, state, 1 AS items FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND run_id = (SELECT max(run_id) FROM runs WHERE app_id = $1 AND job = $2)
                """
            let view = "SELECT stream, state, items FROM crawl_items_by_state WHERE app_id = $1 AND job = $2"
            let sum = { (state: String) in
                "coalesce(sum(items) FILTER (WHERE state = '\(state)'), 0)::bigint AS \(state)"
            }
            let rows: [StreamItems] = try connection.values(
                """
                SELECT stream, \(sum("done")), \(sum("waiting")), \(sum("leased")), \(sum("failed"))
                  FROM (\(context.readable.contains("crawl_items") ? items : view)) items GROUP BY stream ORDER BY stream
                """,
                context.jobKey
            )
            return Self(items: rows)
        }

        func lines(in status: JobStatus) -> [String] {
            ["  items of the last run"]
                + items.map {
                    "    \($0.stream): \($0.done) done, \($0.waiting) waiting, \($0.leased) in progress, \($0.failed) failed"
                }
        }
    }

    package var items: [StreamItems] { self[Items.self]?.items ?? [] }

    package struct StreamItems: Codable, Sendable, Equatable {
        package let stream: String
        package let done: Int64
        package let waiting: Int64
        package let leased: Int64
        package let failed: Int64
    }
}
