import Synchronization

/// A bounded number of sessions.
///
/// Callers get them in the order of their requests. While the server has room for only some of the sessions, callers wait for these.
package final class PostgresPool: Sendable {
    private let patience: Duration
    private let state: Mutex<State>

    /// When a session is tried again for which the server had no room.
    private static let fullTime = Duration.seconds(30)

    private struct State {
        var free: [PostgresSession]
        /// Sessions for which the server had no room, and when they are tried again.
        var aside: [(session: PostgresSession, until: ContinuousClock.Instant)] = []
        /// Those that had a connection when they were last used.
        var connected: Set<ObjectIdentifier> = []
        var waiters: [(number: Int, continuation: CheckedContinuation<PostgresSession, any Error>)] = []
        var lastNumber = 0

        mutating func takeFree() -> PostgresSession? {
            if let session = free.popLast() { return session }
            guard let first = aside.first, first.until <= .now else { return nil }
            return aside.removeFirst().session
        }
    }

    /// Creates a pool without connecting.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string, PostgreSQL manual, "Connection Strings".
    ///   - size: The most sessions, at least 1.
    ///   - patience: How long ``withConnection(_:)`` tries to connect, at first and after a lost connection.
    ///   - settings: The parameters of all statements.
    ///   - waiting: See ``PostgresSession/init(conninfo:settings:waiting:watch:)``.
    ///   - watch: Takes part in each transaction.
    ///   - lockWaits: Reports when a session waits for a lock.
    package init(
        conninfo: ConnectionString,
        size: Int,
        patience: Duration = .seconds(60),
        settings: SessionSettings = .standard,
        waiting: @escaping @Sendable (PostgresError) -> Void = { _ in },
        watch: (any TransactionWatch)? = nil,
        lockWaits: LockWaitWatch? = nil
    ) {
        precondition(size >= 1, "a pool needs at least one session")
        self.patience = patience
        let sessions = (0..<size).map { _ in
            PostgresSession(
                conninfo: conninfo,
                settings: settings,
                waiting: waiting,
                watch: watch,
                lockWaits: lockWaits
            )
        }
        state = Mutex(State(free: sessions))
    }

    /// Calls `body` with a connection, after waiting until one is free.
    ///
    /// `body` cannot keep it.
    ///
    /// `body` runs on the session's own thread, so it does not block other tasks. Cancelling the task ends the wait or the
    /// running statement and throws `CancellationError`.
    ///
    /// - Throws: The error of `body`; ``PostgresError`` from connecting.
    package func withConnection<R: Sendable>(
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await withConnection(patience: patience, body)
    }

    /// Checks that the server is reachable and accepts the credentials.
    ///
    /// - Throws: ``PostgresError``: `isUnreachable` after `deadline`, refused credentials at once.
    package func connect(within deadline: Duration) async throws {
        try await withConnection(patience: deadline) { _ in }
    }

    private func withConnection<R: Sendable>(
        patience: Duration,
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        while true {
            let session = try await acquire()
            let id = ObjectIdentifier(session)
            do {
                let result = try await session.withConnection(
                    patience: patience,
                    yields: { [self] in state.withLock { !$0.connected.subtracting([id]).isEmpty } }
                ) { connection in
                    state.withLock { _ = $0.connected.insert(id) }
                    return try body(connection)
                }
                release(session)
                return result
            } catch is ServerIsFull {
                state.withLock { state in
                    state.connected.remove(id)
                    state.aside.append((session, .now + Self.fullTime))
                }
            } catch {
                if (error as? PostgresError)?.isUnreachable == true {
                    state.withLock { _ = $0.connected.remove(id) }
                }
                release(session)
                throw error
            }
        }
    }

    private func acquire() async throws -> PostgresSession {
        try Task.checkCancellation()
        let (free, number): (PostgresSession?, Int) = state.withLock { state in
            state.lastNumber += 1
            return (state.takeFree(), state.lastNumber)
        }
        if let free { return free }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { enqueue($0, number) }
        } onCancel: {
            state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enqueue(_ continuation: CheckedContinuation<PostgresSession, any Error>, _ number: Int) {
        // Checked under the lock: either cancellation is seen here, or its handler finds the waiter.
        let answer: Result<PostgresSession, any Error>? = state.withLock { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            if let free = state.takeFree() { return .success(free) }
            state.waiters.append((number, continuation))
            return nil
        }
        if let answer { continuation.resume(with: answer) }
    }

    private func release(_ session: PostgresSession) {
        let next = state.withLock { state -> CheckedContinuation<PostgresSession, any Error>? in
            if state.waiters.isEmpty {
                state.free.append(session)
                return nil
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume(returning: session)
    }
}

/// The server has no room for a further session of a pool that has others.
struct ServerIsFull: Error {}
