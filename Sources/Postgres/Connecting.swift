import CLibPQ
import Platform

/// An open session.
@unsafe
struct OpenSession {
    /// The caller closes it.
    let handle: OpaquePointer
    /// Whether a pooler may give the session to another client later.
    let isPooled: Bool
    /// The server's process, also behind a pooler.
    let processID: Int32
    /// The settings that the session needs; they are set unless it is pooled.
    let settings: SessionSettings
}

/// Opens a session that no other client uses, without what an earlier client left in it, and checks the server's version and encoding.
///
/// - Throws: ``PostgresError``, with the reason `sharedSession` if a pooler shares it; nothing on the server has then changed.
func openSession(_ conninfo: ConnectionString, _ settings: SessionSettings) throws(PostgresError) -> OpenSession {
    var parameters = try ConnectionSettings(conninfo: conninfo.reveal(), applicationName: conninfo.applicationName)
    let requirements = try TransportRequirements(parameters, systemRoots: conninfo.systemRoots)
    parameters.set(requirements.overrides)
    let open = { [parameters] () throws(PostgresError) in unsafe try connect(parameters, requirements) }
    let handle = unsafe try open()
    do throws(PostgresError) {
        unsafe try requireSupportedServer(handle)
        let (ownership, processID) = unsafe try requireOwnSession(handle, within: parameters.timeout, open: open)
        let needed = unsafe try settings.needed(by: handle)
        // A pooler without server_reset_query leaves the statements and types of the client before.
        let sql = ownership == .direct ? needed.statements(.session) : "DEALLOCATE ALL; DISCARD TEMP"
        let rows = unsafe PostgresRows(owning: PQexec(handle, sql), statement: sql)
        if let failure = unsafe rows.failure(on: handle) { throw failure }
        return unsafe OpenSession(
            handle: handle,
            isPooled: ownership == .pooled,
            processID: processID,
            settings: needed
        )
    } catch {
        unsafe PQfinish(handle)
        throw error
    }
}

/// Connects.
///
/// libpq reports the SQLSTATE of a refused connection only in verbose messages. They must be enabled while connecting
/// is in progress, so this function performs the steps of connecting itself.
private func connect(
    _ settings: ConnectionSettings,
    _ requirements: TransportRequirements
) throws(PostgresError) -> OpaquePointer {
    let started = unsafe settings.withCStrings { keywords, values in
        unsafe PQconnectStartParams(keywords, values, 0)
    }
    guard let handle = unsafe started else {
        throw PostgresError(.connection, .cannotConnect, "libpq is out of memory")
    }
    do throws(PostgresError) {
        unsafe try finishConnecting(handle, within: settings.timeout, requirements)
    } catch {
        unsafe PQfinish(handle)  // Also frees the memory of a refused connection.
        throw error
    }
    _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    return unsafe handle
}

private func finishConnecting(
    _ handle: OpaquePointer,
    within timeout: Duration,
    _ requirements: TransportRequirements
) throws(PostgresError) {
    _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
    let deadline = ContinuousClock.now + timeout
    var awaited = Int16(POLLOUT)
    while true {
        guard unsafe PQstatus(handle) != CONNECTION_BAD else { throw unsafe refusal(handle) }
        guard !Task.isCancelled else {
            throw PostgresError(.connection, .queryCanceled, "the task was cancelled while connecting")
        }
        guard ContinuousClock.now < deadline else {
            throw PostgresError(.connection, .cannotConnect, "the server did not answer within \(timeout)")
        }
        // libpq contacts no address before the first call of PQconnectPoll.
        if let address = unsafe PQhostaddr(handle) { try requirements.check(address: unsafe String(cString: address)) }
        var socket = pollfd(fd: unsafe PQsocket(handle), events: awaited, revents: 0)
        guard unsafe poll(&socket, 1, 100) > 0 else { continue }
        switch unsafe PQconnectPoll(handle) {
        case PGRES_POLLING_OK: return
        case PGRES_POLLING_READING: awaited = Int16(POLLIN)
        case PGRES_POLLING_WRITING: awaited = Int16(POLLOUT)
        default: throw unsafe refusal(handle)
        }
    }
}

/// The error of a failed connection, with the SQLSTATE from the verbose message.
private func refusal(_ handle: OpaquePointer) -> PostgresError {
    let text = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
    // An indented line is a question of libpq's, such as "Is the server running locally?", and not the error.
    let verbose = text.split(separator: "\n").filter { line in
        !["LOCATION:", "DETAIL:", "CONTEXT:", "\t"].contains { line.hasPrefix($0) }
    }
    var state = verbose.compactMap(stateInVerboseLine).last
    // Two spaces follow the severity and the SQLSTATE.
    let lines = verbose.map { $0.split(separator: " ").joined(separator: " ") }
    if state == nil, unsafe PQconnectionNeedsPassword(handle) == 1 { state = .invalidPassword }
    if state == nil, let cause = TransportRequirements.verificationFailure(in: text) {
        return PostgresError(.untrustedServer, .cannotConnect, "\(cause) (\(lines.joined(separator: "; ")))")
    }
    return PostgresError(.connection, state ?? .cannotConnect, lines.joined(separator: "; "))
}

/// Finds the SQLSTATE `28P01` in `… failed: FATAL:  28P01: password authentication failed`.
private func stateInVerboseLine(_ line: Substring) -> SQLState? {
    let bytes = Array(line.utf8)
    let isCode = { (byte: UInt8) in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
    for start in bytes.indices.dropLast(9) where bytes[start...].starts(with: ":  ".utf8) {
        let code = bytes[(start + 3)..<(start + 8)]
        guard code.allSatisfy(isCode), bytes[start + 8] == UInt8(ascii: ":") else { continue }
        return SQLState(rawValue: String(decoding: code, as: UTF8.self))
    }
    return nil
}

private func requireSupportedServer(_ handle: OpaquePointer) throws(PostgresError) {
    let version = unsafe PQserverVersion(handle)
    guard version >= 150_000 else {
        throw PostgresError(
            .unsupportedServer,
            .featureNotSupported,
            "the server is PostgreSQL \(version / 10_000); StoreLedger needs 15 or later"
        )
    }
    let encoding = unsafe PQparameterStatus(handle, "server_encoding").map { unsafe String(cString: $0) } ?? "unknown"
    guard encoding == "UTF8" else {
        throw PostgresError(
            .unsupportedServer,
            .featureNotSupported,
            "the database's encoding is \(encoding); StoreLedger needs UTF8 (CREATE DATABASE … ENCODING 'UTF8')"
        )
    }
}
