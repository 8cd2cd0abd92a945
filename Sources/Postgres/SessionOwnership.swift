import CLibPQ
import Platform

/// Who uses the session of PostgreSQL that a connection reaches.
enum SessionOwnership {
    /// The server itself answers, so the session ends with the connection.
    case direct
    /// A pooler answers, and gives this connection a separate session. The session may serve other clients later.
    case pooled
}

/// Finds out whether all statements of a connection reach one session that no other client uses.
///
/// A server says its process ID when it accepts a connection. A pooler cannot pass that on, because it chooses the server later,
/// so it invents a number. Behind a pooler, this function asks for the process ID several times, on this
/// connection and on two others. With a session for each connection, no answer ever changes and no two connections get
/// the same one. A pooler that chooses a session for each transaction or statement gives idle connections the same
/// session, or one connection several.
///
/// Nothing is changed on the server or in its sessions.
///
/// - Parameters:
///   - handle: A new connection.
///   - timeout: How long to wait for an answer on this connection.
///   - open: Opens another connection in the same way.
/// - Returns: Whether a pooler answers, and the process of the session.
/// - Throws: ``PostgresError`` with the reason `sharedSession`; as ``openSession(_:)``.
func requireOwnSession(
    _ handle: OpaquePointer,
    within timeout: Duration,
    open: () throws(PostgresError) -> OpaquePointer
) throws(PostgresError) -> (SessionOwnership, processID: Int32) {
    let first = unsafe try awaitProcessID(handle, within: timeout)
    if unsafe first == PQbackendPID(handle) { return (.direct, first) }
    var connections = unsafe [handle]
    defer { for place in unsafe connections.indices.dropFirst() { unsafe PQfinish(connections[place]) } }
    var processes = [first]
    // A connection that is asked twice in a row gets the next session of a pooler that takes turns. One that is asked
    // after another gets the other's session from a pooler that prefers the session used last.
    for place in [0, 0, 1, 1, 0, 2, 2, 1, 0, 1, 2, 0] {
        if unsafe place == connections.count { unsafe connections.append(try open()) }
        let asked = unsafe connections[place]
        unsafe try sendProcessIDQuery(asked)
        var answer = unsafe try processID(asked, within: place == 0 ? timeout : .seconds(1))
        if answer == nil, place > 0 {
            // Every session of the pooler is in use. A pooler that shares them would serve the waiting connection first.
            let own = unsafe try awaitProcessID(handle, within: timeout)
            guard own == first else { throw sharedSession("one connection reached the processes \(first) and \(own)") }
            answer = unsafe try processID(asked, within: .milliseconds(100))
            if answer == nil { return (.pooled, first) }
        }
        guard let answer else { throw noAnswer(within: timeout) }
        if place == processes.count { processes.append(answer) }
        guard processes[place] == answer else {
            throw sharedSession("one connection reached the processes \(processes[place]) and \(answer)")
        }
        guard Set(processes).count == processes.count else {
            throw sharedSession("two connections reached the process \(answer)")
        }
    }
    unsafe try requireTransactions(handle)
    return (.pooled, first)
}

/// A pooler with a session for each statement accepts no transaction.
private func requireTransactions(_ handle: OpaquePointer) throws(PostgresError) {
    for statement in ["BEGIN", "ROLLBACK"] {
        let rows = unsafe PostgresRows(owning: PQexec(handle, statement), statement: statement)
        guard let failure = unsafe rows.failure(on: handle) else { continue }
        throw failure.state == .protocolViolation ? sharedSession(failure.message) : failure
    }
}

private func awaitProcessID(_ handle: OpaquePointer, within timeout: Duration) throws(PostgresError) -> Int32 {
    unsafe try sendProcessIDQuery(handle)
    guard let answer = unsafe try processID(handle, within: timeout) else { throw noAnswer(within: timeout) }
    return answer
}

private let processIDQuery = "SELECT pg_catalog.pg_backend_pid()"

private func sendProcessIDQuery(_ handle: OpaquePointer) throws(PostgresError) {
    guard unsafe PQsendQuery(handle, processIDQuery) == 1 else {
        let rows = unsafe PostgresRows(owning: nil, statement: processIDQuery)
        throw unsafe rows.failure(on: handle) ?? noAnswer(within: .zero)
    }
}

/// The answer to the query that was sent; `nil` if there is none within the limit.
private func processID(_ handle: OpaquePointer, within limit: Duration) throws(PostgresError) -> Int32? {
    let deadline = ContinuousClock.now + limit
    while unsafe PQisBusy(handle) == 1 {
        guard !Task.isCancelled else {
            throw PostgresError(.connection, .queryCanceled, "the task was cancelled while connecting")
        }
        guard ContinuousClock.now < deadline else { return nil }
        var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
        if unsafe poll(&socket, 1, 100) > 0, unsafe PQconsumeInput(handle) == 0 { break }
    }
    var answer: Int32?
    var failure: PostgresError?
    while let result = unsafe PQgetResult(handle) {
        let rows = unsafe PostgresRows(owning: result, statement: processIDQuery)
        failure = unsafe failure ?? rows.failure(on: handle)
        if failure == nil, rows.count == 1 { answer = Int32(truncatingIfNeeded: try rows[0].int64("pg_backend_pid")) }
    }
    if let failure { throw failure }
    guard let answer else {
        throw PostgresError(.connection, .connectionFailure, "the connection ended before the session was known")
    }
    return answer
}

private func noAnswer(within timeout: Duration) -> PostgresError {
    PostgresError(.connection, .cannotConnect, "the server did not answer within \(timeout)")
}

private func sharedSession(_ evidence: String) -> PostgresError {
    PostgresError(
        .sharedSession,
        .featureNotSupported,
        "a connection pooler shares sessions between clients (\(evidence))"
    )
}
