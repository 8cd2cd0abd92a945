import CLibPQ
import Glibc
package import LedgerTables

/// One libpq session.
///
/// Noncopyable: exactly one owner, and leaving the owner's scope closes the socket. Not `Sendable`: libpq forbids two
/// threads in one connection. Every call blocks; ``PostgresPool`` keeps that off the threads that run Swift tasks.
@safe
package struct PostgresConnection: ~Copyable {
    let handle: OpaquePointer
    let statements = PreparedStatements()
    let canceller: StatementCanceller

    /// Connects and blocks until the server answers or refuses.
    ///
    /// The session speaks UTF-8 whatever `PGCLIENTENCODING` says, and prints moments in ISO 8601, UTC.
    ///
    /// Over a network the server proves by TLS who it is, and never gets to see the password; see ``TransportDemands``.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string, PostgreSQL manual, "Connection Strings".
    ///   - systemRoots: See ``ConnectionString/systemRoots``.
    /// - Throws: ``PostgresError``; a server older than PostgreSQL 15 or of another encoding than UTF-8 is refused.
    package init(conninfo: String, systemRoots: String? = nil) throws(PostgresError) {
        try self.init(ConnectionString(conninfo, systemRoots: systemRoots))
    }

    /// Connects to what the string names, in the same way.
    package init(_ conninfo: ConnectionString) throws(PostgresError) {
        let handle = unsafe try openSession(conninfo)
        unsafe self.handle = handle
        unsafe canceller = StatementCanceller(of: handle)
    }

    deinit { unsafe PQfinish(handle) }

    /// Whether no later statement can succeed: the session must be dropped.
    package var isBroken: Bool {
        unsafe statements.sessionEnded || PQstatus(handle) != CONNECTION_OK
    }

    /// Runs one statement, prepared once for this session; parameters travel apart from it, in binary.
    ///
    /// - Parameters:
    ///   - sql: One statement with `$1`, `$2`, … where the parameters go.
    ///   - parameters: Each is sent as the type of its cell; `.null` takes the type the server infers.
    ///   - rows: The last parameter, if any: `sql` says of which type, as in `unnest($2::pg_temp.NAME[])`.
    ///   - answer: How values come back; ``PostgresRow`` reads both.
    /// - Returns: The rows found, and how many were affected.
    /// - Throws: ``PostgresError``; with state 57014 and unsent, if the task was cancelled before.
    @discardableResult
    package borrowing func run(
        _ sql: String,
        _ parameters: [Cell] = [],
        rows: RowArray? = nil,
        answer: ValueFormat = .text
    ) throws(PostgresError) -> PostgresRows {
        try refuseIfCancelled(sql)
        let name = try prepare(sql, parameters, hasRows: rows != nil)
        _ = unsafe try statements.withParameters(parameters, rows: rows) { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, answer.rawValue)
        }
        return try self.answer(of: sql)
    }

    /// Runs one statement like ``run(_:_:rows:answer:)``, but plans it for this once whatever the transaction keeps.
    package borrowing func runOnce(_ sql: String, _ parameters: [Cell]) throws(PostgresError) -> PostgresRows {
        try refuseIfCancelled(sql)
        let types = parameters.map { PostgresType(of: $0)?.rawValue ?? 0 }
        _ = unsafe try statements.withParameters(parameters, rows: nil) { count, values, lengths, formats in
            unsafe PQsendQueryParams(handle, sql, count, types, values, lengths, formats, ValueFormat.text.rawValue)
        }
        return try answer(of: sql)
    }

    /// Runs several statements without parameters, such as a migration, in one implicit transaction.
    package borrowing func script(_ sql: String) throws(PostgresError) {
        try refuseIfCancelled(sql)
        try execute(sql)
    }

    /// Runs `sql` even in a cancelled task: a rollback must reach the server.
    @discardableResult
    borrowing func execute(_ sql: String) throws(PostgresError) -> PostgresRows {
        try send(sql)
        return try answer(of: sql)
    }

    /// Hands statements to the server; ``answer(of:)`` must follow, and says too what went wrong here.
    borrowing func send(_ sql: String) throws(PostgresError) {
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.nulCharacter, .characterNotInRepertoire, "a statement holds U+0000", statement: nil)
        }
        _ = unsafe PQsendQuery(handle, sql)
    }

    borrowing func refuseIfCancelled(_ sql: String) throws(PostgresError) {
        guard Task.isCancelled else { return }
        throw PostgresError(
            .server,
            .queryCanceled,
            "the task was cancelled before the statement was sent",
            statement: sql
        )
    }

    /// The name under which `sql` is prepared for parameters of these types.
    private borrowing func prepare(
        _ sql: String,
        _ parameters: [Cell],
        hasRows: Bool
    ) throws(PostgresError) -> String {
        let plan = statements.plan(sql, parameters, hasRows: hasRows)
        guard let new = plan.toPrepare else { return plan.name }
        for stale in plan.toDeallocate { try execute("DEALLOCATE \(stale)") }
        _ = unsafe PQsendPrepare(handle, plan.name, sql, Int32(new.count), new)
        _ = try answer(of: sql)
        statements.remember(sql, name: plan.name, types: new)
        return plan.name
    }

    /// Waits for everything the server answers to what was sent, and takes the last of it.
    ///
    /// Throws the first error: `PQexec` would give the last, which of a dying server is only that the socket closed.
    borrowing func answer(of sql: String) throws(PostgresError) -> PostgresRows {
        var last = unsafe PostgresRows(owning: nil, statement: sql)
        var firstFailure: PostgresError?
        while let result = unsafe PQgetResult(handle) {
            last = unsafe PostgresRows(owning: result, statement: sql)
            if last.isCopyIn || last.isCopyOut { return last }
            if firstFailure == nil { firstFailure = unsafe last.failure(on: handle) }
        }
        if firstFailure == nil { firstFailure = unsafe last.failure(on: handle) }
        guard let firstFailure else { return last }
        if firstFailure.isConnectionLoss { statements.sessionEnded = true }
        throw firstFailure
    }
}

extension PostgresConnection {
    /// Whether the server has closed an idle session; looks at the socket without asking the server anything.
    borrowing func isLost() -> Bool {
        // Twice: the server's last words come first, the end of the stream behind them.
        for _ in 0..<3 where !isBroken {
            var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&socket, 1, 0) > 0, unsafe PQconsumeInput(handle) == 1 else { break }
        }
        return isBroken
    }
}
