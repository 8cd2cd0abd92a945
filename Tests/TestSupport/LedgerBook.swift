import LedgerTables
package import Postgres

/// What a test reads in a ledger's tables, by SQL of its own.
package struct LedgerBook: Sendable {
    private let pool: PostgresPool
    private let schema: String

    package init(pool: PostgresPool, schema: String) {
        self.pool = pool
        self.schema = schema
    }

    /// Every table that holds what Apple said.
    package static let dataTables = [
        "transactions", "refunds", "renewals", "notifications", "notification_send_attempts",
        "advanced_commerce_items", "advanced_commerce_refunds", "signed_payloads", "signing_headers",
        "schema_drift", "field_issues", "rejected_records",
    ]

    package func with<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> Result
    ) async throws -> Result {
        let schema = schema
        return try await pool.withConnection { connection in
            try connection.script("SET search_path = \(schema)")
            return try body(connection)
        }
    }

    /// The first column of every row, as text.
    package func column(_ sql: String) async throws -> [String] {
        try await with { connection in
            try connection.run("SELECT (q.value)::text AS value FROM (\(sql)) AS q (value)").map { row in
                try row.textOrNil("value") ?? "NULL"
            }
        }
    }

    /// One number.
    package func count(_ sql: String) async throws -> Int {
        try await with { connection in
            Int(try connection.run("SELECT (\(sql))::bigint AS value")[0].int64("value"))
        }
    }

    /// Runs a statement; returns how many rows it changed.
    @discardableResult
    package func change(_ sql: String) async throws -> Int {
        try await with { try $0.run(sql).affected }
    }

    /// Gives every lease back that a killed process left, as a minute's wait would.
    package func endLeases() async throws {
        try await change("UPDATE crawl_items SET claimable_at = clock_timestamp() WHERE state = 'leased'")
    }

    /// Every row of a table but for when, by which run and from which of two streams with the same news it was written.
    package func rows(of table: String) async throws -> [String] {
        try await column(
            """
            SELECT (to_jsonb(t) - '{first_seen_at,last_seen_at,last_changed_at,last_run_id,late_run_id,read_at,run_id,job,source}'::text[])::text
              FROM \(table) t ORDER BY 1
            """
        )
    }

    /// Where each row lies and which transaction wrote it: changes with every version of a row.
    package func versions(of tables: [String] = dataTables) async throws -> Set<String> {
        var versions: Set<String> = []
        for table in tables {
            versions.formUnion(
                try await column("SELECT '\(table) ' || tableoid::text || ctid::text || xmin::text FROM \(table)")
            )
        }
        return versions
    }
}
