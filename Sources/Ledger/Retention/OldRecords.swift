package import JobFiles
package import LedgerSchema
package import Postgres

/// What a job's retention removed, or would remove, of one part of the ledger.
package struct OldRecords: Codable, Sendable, Equatable {
    package let part: Retention.Part
    package private(set) var rows: Int64 = 0
    /// The bytes of the values, without indexes.
    ///
    /// PostgreSQL uses the space for new rows.
    package private(set) var bytes: Int64 = 0

    package init(part: Retention.Part) { self.part = part }

    fileprivate init(part: Retention.Part, _ row: PostgresRow) throws(PostgresError) {
        self.part = part
        rows = try row.int64("rows")
        bytes = try row.int64("bytes")
    }

    /// Adds the rows of another batch or app.
    package mutating func add(_ other: OldRecords) {
        rows += other.rows
        bytes += other.bytes
    }
}

extension Ledger {
    /// Rows that one transaction looks at, so that it takes milliseconds.
    private static let retentionBatch: Int32 = 2_000

    /// Transactions for one part in one run, which look at half a million rows.
    ///
    /// The next run continues there.
    private static let retentionBatches = 250

    /// Removes rows of one part that are older than its term and that newer rows have replaced.
    ///
    /// It works in short transactions that wait for no writer, and stops at the end of the table.
    ///
    /// - Parameters:
    ///   - part: What to remove.
    ///   - term: From which age; at least a day.
    ///   - job: The job whose items are removed.
    /// - Throws: ``Postgres/PostgresError``, `CancellationError`. What was removed before stays removed.
    package func removeOld(
        _ part: Retention.Part,
        olderThan term: Duration,
        job: String,
        app: AppID
    ) async throws -> OldRecords {
        var all = OldRecords(part: part)
        for _ in 0..<Self.retentionBatches {
            try Task.checkCancellation()
            let (removed, isEnd) = try await transaction { connection in
                let row = try connection.run(
                    part.removal,
                    [.integer(app.rawValue), .bigint(term.components.seconds), .integer(Self.retentionBatch)]
                        + (part == .items ? [.text(job)] : [])
                )[0]
                return (try OldRecords(part: part, row), try row.bool("is_end"))
            }
            all.add(removed)
            if isEnd { break }
        }
        return all
    }

    /// Estimates what ``removeOld(_:olderThan:job:app:)`` would remove.
    ///
    /// Tables of more than ``sampledRows`` rows are sampled, so the numbers are approximate for a large ledger.
    package static func estimateOld(
        _ part: Retention.Part,
        olderThan term: Duration,
        job: String,
        app: AppID,
        _ connection: borrowing PostgresConnection
    ) throws -> OldRecords {
        let seconds = Cell.bigint(term.components.seconds)
        guard let table = part.sampledTable else {
            let row = try connection.run(
                """
                SELECT count(*) AS rows, coalesce(sum(bytes), 0)::bigint AS bytes
                  FROM superseded_items($1::integer, $2::text, now() - $3::bigint * interval '1 second')
                """,
                [.integer(app.rawValue), .text(job), seconds]
            )[0]
            return try OldRecords(part: part, row)
        }
        let percent = try connection.run(
            """
            SELECT least(100, 100.0 * \(sampledRows) / greatest(1, sum(c.reltuples)))::text AS percent FROM pg_class c
             WHERE c.relkind = 'r' AND (c.oid = to_regclass($1::text)
                   OR c.oid IN (SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = to_regclass($1)))
            """,
            [.text(table)]
        )[0].text("percent")
        let row = try connection.run(
            """
            SELECT round(count(*) * 100 / $3::text::numeric)::bigint AS rows,
                   round(coalesce(sum(\(part.size)), 0) * 100 / $3::text::numeric)::bigint AS bytes
              FROM \(table) t TABLESAMPLE SYSTEM ($3::text::real) REPEATABLE (1)
             WHERE t.app_id = $1::integer AND \(part.isOld("now() - $2::bigint * interval '1 second'"))
            """,
            [.integer(app.rawValue), seconds, .text(percent)]
        )[0]
        return try OldRecords(part: part, row)
    }

    /// The most rows that an estimate reads of a table.
    private static let sampledRows = 20_000
}

extension Retention.Part {
    /// A statement that removes one batch; its parameters are app, seconds, rows, and for items the job.
    fileprivate var removal: String {
        let term = "$2::bigint * interval '1 second', $3::integer"
        let call =
            switch self {
            case .archive: "remove_old_payloads($1::integer, \(term))"
            case .sendAttempts: "remove_old_attempts($1::integer, \(term))"
            case .items: "remove_superseded_items($1::integer, $4::text, \(term))"
            case .receivedNotifications: "remove_old_received($1::integer, \(term))"
            }
        return "SELECT removed AS rows, bytes, is_end FROM \(call)"
    }

    /// The table of which an estimate reads a sample; `nil` if an index finds the rows.
    fileprivate var sampledTable: String? {
        switch self {
        case .archive: "signed_payloads"
        case .sendAttempts: "notification_send_attempts"
        case .items: nil
        case .receivedNotifications: "received_notifications"
        }
    }

    /// The bytes of a row `t`, as the functions count them that remove it.
    fileprivate var size: String {
        self == .archive ? "pg_column_size(t.payload) + pg_column_size(t.signature)" : "pg_column_size(t.*)"
    }

    /// A condition on a row `t`, as in the functions that remove it.
    fileprivate func isOld(_ cutoff: String) -> String {
        switch self {
        case .archive:
            "t.signed_date < \(cutoff) AND is_superseded_payload(t.app_id, t.kind, t.record_key, t.signed_date, t.payload_sha256, t.is_refund, \(cutoff))"
        case .sendAttempts: "is_superseded_attempt(t.app_id, t.notification_uuid, t.attempt_date, \(cutoff))"
        case .items: "true"
        case .receivedNotifications:
            "t.refused_because IS NULL AND t.received_at < (SELECT received_retention_limit($1::integer, \(cutoff)))"
        }
    }
}
