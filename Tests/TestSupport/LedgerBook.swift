package import Postgres

/// Reads a ledger's tables with the test's own SQL.
package struct LedgerBook: Sendable {
    private let pool: PostgresPool
    private let schema: String

    package init(pool: PostgresPool, schema: String) {
        self.pool = pool
        self.schema = schema
    }

    /// All tables with data from Apple.
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

    /// The first column of the first row, as a number.
    package func count(_ sql: String) async throws -> Int {
        try await with { connection in
            Int(try connection.run("SELECT (\(sql))::bigint AS value")[0].int64("value"))
        }
    }

    /// Runs a statement and returns the number of changed rows.
    @discardableResult
    package func change(_ sql: String) async throws -> Int {
        try await with { try $0.run(sql).affected }
    }

    /// Ends all leases, so that a test need not wait a minute for the leases of killed processes.
    package func endLeases() async throws {
        try await change("UPDATE crawl_items SET claimable_at = clock_timestamp() WHERE state = 'leased'")
    }

    /// All rows of a table without the columns that differ from crawl to crawl.
    ///
    /// Left out are the time and the run of the write, the stream when two have the same record, and the signature with its
    /// date. Of the archive, each content is listed once, even with several signatures. A header's number is left out,
    /// because a killed run uses up a number of the sequence.
    package func rows(of table: String) async throws -> [String] {
        if table == "signed_payloads" { return try await archivedContents() }
        let written =
            "first_seen_at,last_seen_at,last_changed_at,last_run_id,late_run_id,read_at,run_id,job,source"
            + (table == "signing_headers" ? ",header_id" : "")
        // A notification always has the signing date at which it was sent.
        let dates = table == "notifications" ? [] : ["signed_date", "payload,signedDate"]
        let content = (["payload_sha256", "content_hash"] + dates).reduce("to_jsonb(t) - '{\(written)}'::text[]") {
            "\($0) #- '{\($1)}'"
        }
        return try await column("SELECT (\(content))::text FROM \(table) t ORDER BY 1")
    }

    private func archivedContents() async throws -> [String] {
        // The archived payload of a notification is not text: it has special bytes in place of a JWS header.
        try await column(
            """
            SELECT concat_ws(' ', kind, record_key, content, bool_or(is_refund), bool_and(has_header))
              FROM (SELECT archived.*, signing_headers IS NOT NULL AS has_header, CASE WHEN kind <> 'notification' THEN
                              regexp_replace(convert_from(payload, 'UTF8'), '"signedDate":[0-9]+,?', '') END AS content
                      FROM signed_payloads AS archived LEFT JOIN signing_headers USING (app_id, header_id)
                   ) AS signed
             GROUP BY kind, record_key, content ORDER BY 1
            """
        )
    }

    /// The physical position of each row and the transaction that wrote it; both change with every version of a row.
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
