import LedgerSchema
package import Postgres

/// A session that holds a lock in the ledger's schema.
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
    /// The table or view that is locked.
    package let relation: String

    package var description: String {
        let application = application.isEmpty ? "without a name" : "\"\(application)\""
        let since = since.map { ", in a transaction since \($0) UTC" } ?? ""
        return "process \(processID) (user \(user), application \(application)\(since), \(mode) on \(relation))"
    }
}

/// A lock was not available before the deadline.
///
/// The transaction has changed nothing.
package struct LockTimeout: Error, Equatable, Sendable {
    /// The locks whose holders the error names.
    package enum Scope: Equatable, Sendable {
        /// Locks on one table, stronger than a reader's.
        case table(String)
        /// Locks on any table or view of the ledger, stronger than a reader's.
        case ledger
        /// All locks, including readers': a change of the schema waits for readers too.
        case ledgerWithReaders
    }

    /// The reason for the wait, as in "waited 10 min for the views' refresh".
    package let purpose: String
    /// `nil` if the session's `lock_timeout` ended the wait: 30 s, or the transaction's setting.
    package let limit: Duration?
    /// At most ``Ledger/namedHolders``, strongest locks first; empty if the locks have been released since.
    package internal(set) var holders: [LockHolder] = []
    let scope: Scope

    init(purpose: String, limit: Duration?, scope: Scope) {
        self.purpose = purpose
        self.limit = limit
        self.scope = scope
    }
}

extension Ledger {
    /// The default lock timeout of a session.
    static let defaultLockTimeout = "30s"
    /// The lock timeout of starting a run, a refresh, a migration and building an index.
    package static let longLockTimeout = Duration.seconds(600)
    /// The most sessions that an error names.
    static let namedHolders = 4

    /// Runs statements with another lock timeout, and then restores the default of 30 s.
    ///
    /// - Parameters:
    ///   - limit: The lock timeout, at least 1 ms.
    ///   - purpose: See ``LockTimeout/purpose``.
    ///   - scope: The locks whose holders the error names.
    ///   - connection: Inside a transaction.
    ///   - body: The statements.
    /// - Returns: The result of `body`.
    /// - Throws: ``LockTimeout``, after which the transaction is not repeated; errors of `body`.
    package static func waiting<R>(
        _ limit: Duration,
        for purpose: String,
        _ scope: LockTimeout.Scope,
        on connection: borrowing PostgresConnection,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        do {
            try connection.script("SET LOCAL lock_timeout = \(limit.lockTimeoutMilliseconds)")
            let result = try body(connection)
            try connection.script("SET LOCAL lock_timeout = '\(defaultLockTimeout)'")
            return result
        } catch SQLState.lockNotAvailable {
            throw LockTimeout(purpose: purpose, limit: limit, scope: scope)
        }
    }

    /// Adds the sessions that hold such locks now to a ``LockTimeout`` of `body`.
    ///
    /// They are usually the sessions that caused the timeout.
    func namingHolders<R: Sendable>(on lane: Lane = .pages, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let timeout as LockTimeout where timeout.holders.isEmpty {
            throw await named(timeout, on: lane)
        } catch SQLState.lockNotAvailable {
            throw await named(LockTimeout(purpose: "a lock in the ledger", limit: nil, scope: .ledger), on: lane)
        }
    }

    private func named(_ timeout: LockTimeout, on lane: Lane) async -> LockTimeout {
        var timeout = timeout
        let (schema, scope) = (schema, timeout.scope)
        // If the query fails, the error is reported without holders.
        let holders = try? await sessions(of: lane).withConnection { connection in
            try Self.lockHolders(in: schema, scope, on: connection)
        }
        timeout.holders = holders ?? []
        return timeout
    }

    private static func lockHolders(
        in schema: String,
        _ scope: LockTimeout.Scope,
        on connection: borrowing PostgresConnection
    ) throws -> [LockHolder] {
        let table: Cell = if case .table(let name) = scope { .text(name) } else { .null }
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
                 WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relnamespace = to_regnamespace(quote_ident($1::text))
                   AND ($2::text IS NULL OR c.relname = $2) AND (s.strength > 1 OR $3::boolean)
                 ORDER BY l.pid, s.strength DESC, c.relname
            )
            SELECT h.pid, regexp_replace(coalesce(a.usename, ''), '[[:cntrl:]]', '?', 'g') AS usename,
                   regexp_replace(coalesce(a.application_name, ''), '[[:cntrl:]]', '?', 'g') AS application_name,
                   to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since, h.mode, h.relname
              FROM held h JOIN pg_stat_activity a ON a.pid = h.pid
             ORDER BY h.strength DESC, a.xact_start NULLS LAST, h.pid LIMIT $4::integer
            """,
            [.text(schema), table, .boolean(scope == .ledgerWithReaders), .integer(Int32(namedHolders))]
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

extension Duration {
    /// The value of `lock_timeout`; at least 1, because 0 means no limit.
    fileprivate var lockTimeoutMilliseconds: Int32 {
        let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        return Int32(min(max(milliseconds, 1), Int64(Int32.max)))
    }
}
