package import LedgerSchema
package import Postgres

/// What is left to post to one URL of `receiver.forward`, and what was given up.
package struct ForwardCounts: Codable, Sendable, Equatable {
    /// The URL without its query.
    package let url: String
    package let undelivered: Int64
    /// How long the oldest undelivered notification has been stored, in whole seconds; `nil` without one.
    package let oldestSeconds: Int64?
    /// The notifications that were given up in the last 30 days.
    package let givenUp: Int64
    /// Why the latest of the failed attempts has failed; `nil` if none of these notifications has a failed attempt.
    package let lastError: String?

    /// The counts of an app in the order of the URLs; a URL without undelivered and given-up notifications is left out.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package static func read(
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [ForwardCounts] {
        let rows = try connection.run(
            """
            SELECT destination, count(*) FILTER (WHERE given_up_at IS NULL) AS undelivered, count(given_up_at) AS given_up,
                   greatest(extract(epoch FROM now() - min(stored_at) FILTER (WHERE given_up_at IS NULL)), 0)::bigint AS seconds,
                   (max(ARRAY[to_char(due_at, 'YYYYMMDDHH24MISSUS'), last_error]) FILTER (WHERE last_error IS NOT NULL))[2] AS last_error
              FROM forwards WHERE app_id = $1::integer GROUP BY destination ORDER BY destination COLLATE "C"
            """,
            [.integer(app.rawValue)]
        )
        var counts: [ForwardCounts] = []
        for row in rows {
            let undelivered = try row.int64("undelivered")
            counts.append(
                ForwardCounts(
                    url: try row.text("destination"),
                    undelivered: undelivered,
                    oldestSeconds: undelivered > 0 ? try row.int64("seconds") : nil,
                    givenUp: try row.int64("given_up"),
                    lastError: try row.textOrNil("last_error")
                )
            )
        }
        return counts
    }
}
