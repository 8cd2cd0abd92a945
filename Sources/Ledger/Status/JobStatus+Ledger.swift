import LedgerSchema
import Postgres

extension JobStatus {
    /// The unfinished item of the last run whose history is complete until the earliest moment.
    package struct Oldest: Codable, Sendable, Equatable {
        package let stream: String
        package let item: String
        package let state: String
        /// Until when its history is complete; `nil` if it never was.
        package let completeUntil: String?
        /// When a worker may take it, or its current lease expires.
        package let claimableAt: String
        /// The reason why it was put off.
        package let message: String?
    }

    /// The certificate chains of Apple's signatures.
    package struct Certificates: Codable, Sendable, Equatable {
        package let chains: Int64
        /// When the newest chain was first seen; `nil` if that is not recorded.
        package let newestSince: String?
    }

    package struct Storage: Codable, Sendable, Equatable {
        package let table: String
        /// The size with indexes and TOAST data.
        package let bytes: Int64
    }
}

extension Ledger {
    static func oldest(_ key: [Cell], _ connection: borrowing PostgresConnection) throws -> JobStatus.Oldest? {
        try connection.run(
            """
            SELECT stream, item_key, state, \(moment("complete_until")) AS complete_until, \(moment("claimable_at")) AS claimable,
                   error_message
              FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND claimable_at IS NOT NULL
               AND run_id = (SELECT max(run_id) FROM runs WHERE app_id = $1 AND job = $2)
             ORDER BY crawl_items.complete_until NULLS FIRST, claimable_at, item_key LIMIT 1
            """,
            key
        ).map { row in
            JobStatus.Oldest(
                stream: try row.text("stream"),
                item: try row.text("item_key"),
                state: try row.text("state"),
                completeUntil: try row.textOrNil("complete_until"),
                claimableAt: try row.text("claimable"),
                message: try row.textOrNil("error_message")
            )
        }.first
    }

    static func late(
        _ key: [Cell],
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> JobStatus.Late? {
        let notifications = readable.first(of: "notifications", "masked_notifications")
        let runs = readable.first(of: "runs", "masked_runs")
        return try connection.run(
            """
            WITH late AS (
                SELECT n.late_run_id, n.notification_uuid, n.signed_date FROM \(notifications) n
                  JOIN \(runs) r ON r.app_id = n.app_id AND r.run_id = n.late_run_id
                 WHERE n.app_id = $1 AND n.late_run_id IS NOT NULL AND r.job = $2
            )
            SELECT late_run_id, notification_uuid, \(moment("signed_date")) AS signed,
                   count(*) OVER () AS notifications, count(*) OVER (PARTITION BY late_run_id) AS in_run
              FROM late ORDER BY late_run_id DESC, late.signed_date, notification_uuid LIMIT 1
            """,
            key
        ).map { row in
            JobStatus.Late(
                notifications: try row.int64("notifications"),
                run: try row.int64("late_run_id"),
                inRun: try row.int64("in_run"),
                example: try row.text("notification_uuid"),
                signedAt: try row.text("signed")
            )
        }.first
    }

    static func leftOutFacts(
        _ app: Cell,
        _ connection: borrowing PostgresConnection
    ) throws -> JobStatus.LeftOutFacts? {
        let found = try connection.run(
            """
            SELECT count(DISTINCT (kind, record_key)) AS records, string_agg(DISTINCT path, ',' ORDER BY path) AS fields,
                   min(record_key) AS example
              FROM field_issues WHERE app_id = $1 AND found = $2
            """,
            [app, .text(FieldIssue.leftOut)]
        )[0]
        guard let fields = try found.textOrNil("fields") else { return nil }
        return JobStatus.LeftOutFacts(
            records: try found.int64("records"),
            fields: fields.split(separator: ",").map(String.init),
            example: try found.text("example")
        )
    }

    static func withoutPrice(
        _ app: Cell,
        _ connection: borrowing PostgresConnection
    ) throws -> JobStatus.WithoutPrice? {
        let found = try connection.run(
            """
            SELECT count(*) AS transactions, min(transaction_id) AS example
              FROM transactions
             WHERE app_id = $1 AND price_milliunits IS NULL
               AND in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
            """,
            [app]
        )[0]
        guard let example = try found.textOrNil("example") else { return nil }
        return JobStatus.WithoutPrice(transactions: try found.int64("transactions"), example: example)
    }

    /// - Returns: `nil` for a role without the privilege to read them.
    static func certificates(
        _ app: Cell,
        _ connection: borrowing PostgresConnection
    ) throws -> JobStatus.Certificates? {
        let maySee = "SELECT has_column_privilege('signing_headers', 'first_seen_at', 'SELECT') AS allowed"
        guard try connection.run(maySee)[0].bool("allowed") else { return nil }
        let row = try connection.run(
            "SELECT count(*) AS chains, \(moment("max(first_seen_at)")) AS newest FROM signing_headers WHERE app_id = $1",
            [app]
        )[0]
        return JobStatus.Certificates(chains: try row.int64("chains"), newestSince: try row.textOrNil("newest"))
    }

    static func storage(_ connection: borrowing PostgresConnection) throws -> [JobStatus.Storage] {
        try connection.run(
            """
            SELECT coalesce(p.relname, c.relname)::text AS name, sum(pg_total_relation_size(c.oid))::bigint AS bytes
              FROM pg_class c
              -- The partitions of a table count as the table.
              LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
             WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind = 'r'
             GROUP BY 1 HAVING sum(pg_total_relation_size(c.oid)) > 0
             ORDER BY bytes DESC, name
            """
        ).map { JobStatus.Storage(table: try $0.text("name"), bytes: try $0.int64("bytes")) }
    }
}
