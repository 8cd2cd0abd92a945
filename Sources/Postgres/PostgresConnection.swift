import CLibPQ
import Platform

/// One libpq session.
///
/// Noncopyable: it has exactly one owner, and the end of the owner's scope closes the socket. Not `Sendable`: libpq
/// forbids two threads in one connection. Every call blocks; ``PostgresPool`` runs it on a separate thread.
@safe
package struct PostgresConnection: ~Copyable {
    let handle: OpaquePointer
    let statements = PreparedStatements()
    let canceler: StatementCanceler
    /// Those that the session needs.
    let settings: SessionSettings
    /// Whether a pooler may give the session to another client later.
    let isPooled: Bool
    /// The server's process, also behind a pooler.
    let processID: Int32

    /// Connects and blocks until the server answers or refuses.
    ///
    /// The session uses UTF-8 regardless of `PGCLIENTENCODING`, and prints moments in ISO 8601, UTC.
    ///
    /// A session that a pooler may give to another client later keeps its own settings: each transaction sets them for
    /// itself, and a statement outside a transaction gets a separate one.
    ///
    /// Over a network, TLS verifies the server, and the server never sees the password; see ``TransportRequirements``.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string, PostgreSQL manual, "Connection Strings".
    ///   - systemRoots: See ``ConnectionString/systemRoots``.
    /// - Throws: ``PostgresError``, also for a server before PostgreSQL 15, for an encoding other than UTF-8, and for a
    ///   session that other clients of a pooler share.
    package init(conninfo: String, systemRoots: String? = nil) throws(PostgresError) {
        try self.init(ConnectionString(conninfo, systemRoots: systemRoots))
    }

    /// Connects to the server in the connection string, in the same way.
    ///
    /// - Parameters:
    ///   - conninfo: The server.
    ///   - settings: The parameters of all statements.
    /// - Throws: As ``init(conninfo:systemRoots:)``.
    package init(
        _ conninfo: ConnectionString,
        settings: SessionSettings = .standard
    ) throws(PostgresError) {
        let session = unsafe try openSession(conninfo, settings)
        unsafe handle = session.handle
        isPooled = unsafe session.isPooled
        processID = unsafe session.processID
        self.settings = unsafe session.settings
        unsafe canceler = StatementCanceler(of: handle)
    }

    deinit { unsafe PQfinish(handle) }

    /// Whether no later statement can succeed, so that the session must be closed.
    package var isBroken: Bool {
        unsafe statements.sessionEnded || PQstatus(handle) != CONNECTION_OK
    }

    /// Whether a statement needs a separate transaction, which gets the settings.
    var needsTransaction: Bool { unsafe isPooled && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Runs one statement, which is prepared once per session; parameters are sent separately, in binary.
    ///
    /// - Parameters:
    ///   - sql: One statement with `$1`, `$2`, … for the parameters.
    ///   - parameters: Each is sent as the type of its cell; for `.null` the server infers the type.
    ///   - rows: An array of rows as the last parameter; `sql` names its type, as in `unnest($2::pg_temp.NAME[])`.
    ///   - answer: The format of the result's values; ``PostgresRow`` reads both.
    /// - Returns: The rows, and the number of affected rows.
    /// - Throws: ``PostgresError``; with state 57014 and without sending when the task is already cancelled.
    @discardableResult
    package borrowing func run(
        _ sql: String,
        _ parameters: [Cell] = [],
        rows: RowArray? = nil,
        answer: ValueFormat = .text
    ) throws(PostgresError) -> PostgresRows {
        if needsTransaction {
            return try inOwnTransaction { (connection) throws(PostgresError) in
                try connection.run(sql, parameters, rows: rows, answer: answer)
            }
        }
        try refuseIfCancelled(sql)
        let name = try prepare(sql, parameters, hasRows: rows != nil)
        _ = unsafe try statements.withParameters(parameters, rows: rows) { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, answer.rawValue)
        }
        return try self.answer(of: sql)
    }

    /// Runs one statement like ``run(_:_:rows:answer:)``, but plans it for these parameters, even with `keepsPlans`.
    package borrowing func runOnce(_ sql: String, _ parameters: [Cell]) throws(PostgresError) -> PostgresRows {
        if needsTransaction {
            return try inOwnTransaction { (connection) throws(PostgresError) in try connection.runOnce(sql, parameters)
            }
        }
        try refuseIfCancelled(sql)
        let types = parameters.map { PostgresType(of: $0)?.rawValue ?? 0 }
        _ = unsafe try statements.withParameters(parameters, rows: nil) { count, values, lengths, formats in
            unsafe PQsendQueryParams(handle, sql, count, types, values, lengths, formats, ValueFormat.text.rawValue)
        }
        return try answer(of: sql)
    }

    /// Runs several statements without parameters, such as a migration, in one implicit transaction.
    package borrowing func script(_ sql: String) throws(PostgresError) {
        if needsTransaction {
            return try inOwnTransaction { (connection) throws(PostgresError) in try connection.script(sql) }
        }
        try refuseIfCancelled(sql)
        try execute(sql)
    }

    /// Runs `sql` even in a cancelled task, because a rollback must reach the server.
    @discardableResult
    borrowing func execute(_ sql: String) throws(PostgresError) -> PostgresRows {
        try send(sql)
        return try answer(of: sql)
    }

    /// Sends statements to the server; the caller must call ``answer(of:)`` next, which also reports errors of this call.
    borrowing func send(_ sql: String) throws(PostgresError) {
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.nulCharacter, .characterNotInRepertoire, "a statement contains U+0000", statement: nil)
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

    /// The name of the prepared statement for `sql` with parameters of these types.
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

    /// Waits for all results of the sent statements and returns the last one.
    ///
    /// Throws the first error. `PQexec` would return the last one; when the server shuts down, that says only that the
    /// socket was closed.
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
    /// Whether the server has closed an idle session; checks the socket without sending anything.
    borrowing func isLost() -> Bool {
        // Repeatedly, because the server's last message comes before the end of the stream.
        for _ in 0..<3 where !isBroken {
            var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&socket, 1, 0) > 0, unsafe PQconsumeInput(handle) == 1 else { break }
        }
        return isBroken
    }
}
