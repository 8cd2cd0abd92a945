import Synchronization

/// A bounded number of sessions.
///
/// Callers get them in the order of their requests.
package final class PostgresPool: Sendable {
    private let patience: Duration
    private let state: Mutex<State>

    private struct State {
        var free: [PostgresSession]
        var waiters: [(number: Int, continuation: CheckedContinuation<PostgresSession, any Error>)] = []
        var lastNumber = 0
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
    package init(
        conninfo: ConnectionString,
        size: Int,
        patience: Duration = .seconds(60),
        settings: SessionSettings = .standard,
        waiting: @escaping @Sendable (PostgresError) -> Void = { _ in },
        watch: (any TransactionWatch)? = nil
    ) {
        precondition(size >= 1, "a pool needs at least one session")
        self.patience = patience
        let sessions = (0..<size).map { _ in
            PostgresSession(conninfo: conninfo, settings: settings, waiting: waiting, watch: watch)
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
        let session = try await acquire()
        defer { release(session) }
        return try await session.withConnection(patience: patience, body)
    }

    /// Checks that the server is reachable and accepts the credentials.
    ///
    /// - Throws: ``PostgresError``: `isUnreachable` after `deadline`, refused credentials at once.
    package func connect(within deadline: Duration) async throws {
        let session = try await acquire()
        defer { release(session) }
        try await session.connect(within: deadline)
    }

    private func acquire() async throws -> PostgresSession {
        try Task.checkCancellation()
        let (free, number): (PostgresSession?, Int) = state.withLock { state in
            state.lastNumber += 1
            return (state.free.popLast(), state.lastNumber)
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
            if let free = state.free.popLast() { return .success(free) }
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
