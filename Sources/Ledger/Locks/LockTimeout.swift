import LedgerTables
import Postgres

/// A session that holds a lock in the ledger's schema; its texts are safe to print.
package struct LockHolder: Equatable, Sendable, CustomStringConvertible {
    /// Of the server's process; `pg_terminate_backend` takes it.
    package let processID: Int64
    package let user: String
    /// As the session calls itself; empty when it has no name.
    package let application: String
    /// When its transaction began, in UTC; `nil` when the role may not see that.
    package let since: String?
    /// Its strongest lock, such as `ExclusiveLock`.
    package let mode: String
    /// What that lock is on.
    package let relation: String

    package var description: String {
        let application = application.isEmpty ? "without a name" : "\"\(application)\""
        let since = since.map { ", in a transaction since \($0) UTC" } ?? ""
        return "process \(processID) (user \(user), application \(application)\(since), \(mode) on \(relation))"
    }
}

/// A lock was not free before its deadline; nothing of the transaction has happened.
package struct LockTimeout: Error, Equatable, Sendable {
    /// Which locks are worth naming.
    enum Scope: Equatable, Sendable {
        /// Locks on one table, stronger than a reader's.
        case table(String)
        /// Locks on any table or view of the ledger, stronger than a reader's.
        case ledger
        /// The same, and a reader's: only a change of the schema waits for readers.
        case ledgerWithReaders
    }

    /// What was waited for, as in "waited 10 min for the views' refresh".
    package let purpose: String
    /// `nil` when the session's own `lock_timeout` ended the wait: 30 s, or what the transaction had set.
    package let limit: Duration?
    /// At most ``Ledger/namedHolders``, the strongest locks first; empty when they were released meanwhile.
    package internal(set) var holders: [LockHolder] = []
    let scope: Scope

    init(purpose: String, limit: Duration?, scope: Scope) {
        self.purpose = purpose
        self.limit = limit
        self.scope = scope
    }
}

extension Ledger {
    /// How long a session waits for a lock that nothing else is said of.
    static let usualLockTimeout = "30s"
    /// How long the beginning of a run, a refresh, a migration and the building of an index wait for a lock.
    package static let longLockPatience = Duration.seconds(600)
    /// How many sessions an error names.
    static let namedHolders = 4

    /// Runs statements that may wait for another session's lock; after them the usual 30 s are in force again.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; less than a millisecond counts as one.
    ///   - purpose: What is waited for, see ``LockTimeout/purpose``.
    ///   - scope: Whose locks the error names.
    ///   - connection: Inside a transaction.
    ///   - body: The statements.
    /// - Returns: What `body` returns.
    /// - Throws: ``LockTimeout``, which no transaction is tried again after; what `body` throws.
    static func waiting<R>(
        _ limit: Duration,
        for purpose: String,
        _ scope: LockTimeout.Scope,
        on connection: borrowing PostgresConnection,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        do {
            try connection.script("SET LOCAL lock_timeout = \(limit.lockTimeoutMilliseconds)")
            let result = try body(connection)
            try connection.script("SET LOCAL lock_timeout = '\(usualLockTimeout)'")
            return result
        } catch SQLState.lockNotAvailable {
            throw LockTimeout(purpose: purpose, limit: limit, scope: scope)
        }
    }

    /// Adds to a lock's deadline, when `body` fails by one, which sessions hold such locks now.
    ///
    /// They usually hold them still: a session that was waited for in vain is one that stays.
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
        // An error without names is better than another error.
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
    /// What `lock_timeout` takes; 0 would mean no limit.
    fileprivate var lockTimeoutMilliseconds: Int32 {
        let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        return Int32(min(max(milliseconds, 1), Int64(Int32.max)))
    }
}
