import LedgerSchema

/// A session that holds a lock on a table or view, or has a transaction open.
///
/// Its texts are safe to print.
package struct LockHolder: Equatable, Sendable, CustomStringConvertible {
    /// The process ID for `pg_terminate_backend`.
    package let processID: Int64
    package let user: String
    /// The session's `application_name`; empty if it has none.
    package let application: String
    /// When its transaction began, in UTC; `nil` if the role may not see it.
    package let since: String?
    /// Its strongest lock, such as `ExclusiveLock`.
    package let mode: String
    /// The table or view that is locked; `transaction` and its number for a transaction that is waited for.
    package let relation: String

    package var description: String {
        let application = application.isEmpty ? "without a name" : "\"\(application)\""
        let since = since.map { ", in a transaction since \($0) UTC" } ?? ""
        return "process \(processID) (user \(user), application \(application)\(since), \(mode) on \(relation))"
    }
}

extension LockHolder {
    /// The most sessions that an error names.
    static let limit = 4

    /// Reads which sessions hold locks in the schema now.
    ///
    /// - Parameters:
    ///   - schema: Of the tables and views.
    ///   - connection: Another session than the one that waited.
    /// - Returns: At most ``limit``, strongest locks first, and open transactions of this database before those in
    ///   others.
    /// - Throws: ``PostgresError``.
    static func all(
        in schema: String,
        _ scope: LockTimeout.Scope,
        on connection: borrowing PostgresConnection
    ) throws -> [LockHolder] {
        let table: Cell = if case .table(let name) = scope { .text(name) } else { .null }
        let transaction: Cell = if case .transactions(let number) = scope { .text(number) } else { .null }
        return try connection.run(
            """
            WITH held AS (
                SELECT DISTINCT ON (l.pid) l.pid, l.mode, c.relname, s.strength
                  FROM pg_locks l
                  JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
                  JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p', 'v', 'm')
                 CROSS JOIN LATERAL array_position(ARRAY['AccessShareLock', 'RowShareLock', 'RowExclusiveLock',
                           'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
                           'AccessExclusiveLock'], l.mode) AS s (strength)
                 WHERE $5::text IS NULL AND l.granted AND l.pid <> pg_backend_pid() AND c.relnamespace = to_regnamespace(quote_ident($1::text))
                   AND ($2::text IS NULL OR c.relname = $2) AND (s.strength > 1 OR $3::boolean)
                 ORDER BY l.pid, s.strength DESC, c.relname
            ), open AS (
                -- age() compares the short numbers of pg_locks across their wraparound.
                SELECT DISTINCT ON (l.pid) l.pid, l.mode, 'transaction ' || l.transactionid AS relname, 0 AS strength
                  FROM pg_locks l
                 WHERE l.locktype = 'transactionid' AND l.granted AND l.pid <> pg_backend_pid()
                   AND age(l.transactionid) > age($5::text::xid8::xid)
                 ORDER BY l.pid, age(l.transactionid) DESC
            )
            SELECT h.pid, regexp_replace(coalesce(a.usename, ''), '[[:cntrl:]]', '?', 'g') AS usename,
                   regexp_replace(coalesce(a.application_name, ''), '[[:cntrl:]]', '?', 'g') AS application_name,
                   to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since, h.mode, h.relname
              FROM (SELECT * FROM held UNION ALL SELECT * FROM open) h JOIN pg_stat_activity a ON a.pid = h.pid
             ORDER BY h.strength DESC, (a.datname = current_database()) IS NOT TRUE, a.xact_start NULLS LAST, h.pid LIMIT $4::integer
            """,
            [.text(schema), table, .boolean(scope == .schemaWithReaders), .integer(Int32(limit)), transaction]
        ).map { row in
            LockHolder(
                processID: try row.int64("pid"),
                user: try row.text("usename"),
                application: try row.text("application_name"),
                since: try row.textOrNil("since"),
                mode: try row.text("mode"),
                relation: try row.text("relname")
            )
        }
    }
}
