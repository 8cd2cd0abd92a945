import Synchronization

/// A bounded number of sessions, lent in the order they are asked for.
package final class PostgresPool: Sendable {
    private let patience: Duration
    private let state: Mutex<State>

    private struct State {
        var free: [PostgresSession]
        var waiters: [(number: Int, continuation: CheckedContinuation<PostgresSession, any Error>)] = []
        var lastNumber = 0
    }

    /// Connects to nothing yet.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string, PostgreSQL manual, "Connection Strings".
    ///   - size: Sessions at most, at least 1.
    ///   - patience: How long ``withConnection(_:)`` tries to connect, at first and after a break.
    ///   - prepare: Runs on every new connection before anything else does, say `SET search_path`.
    package init(
        conninfo: ConnectionString,
        size: Int,
        patience: Duration = .seconds(60),
        prepare: @escaping @Sendable (borrowing PostgresConnection) throws -> Void = { _ in }
    ) {
        precondition(size >= 1, "a pool without sessions lends nothing")
        self.patience = patience
        state = Mutex(State(free: (0..<size).map { _ in PostgresSession(conninfo: conninfo, prepare: prepare) }))
    }

    /// Lends a connection to `body`, waiting for one if all are lent; the compiler keeps it from leaving.
    ///
    /// `body` runs on the session's own thread, so its blocking stops no other task. Cancelling the task stops waiting,
    /// or the statement that runs, and throws `CancellationError`.
    ///
    /// - Throws: What `body` throws; ``PostgresError`` from connecting.
    package func withConnection<R: Sendable>(
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        let session = try await acquire()
        defer { release(session) }
        return try await session.withConnection(patience: patience, body)
    }

    /// Makes sure the server is there and takes us.
    ///
    /// - Throws: ``PostgresError``: `isUnreachable` when `deadline` has passed, refused credentials at once.
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
        // Cancellation is asked for under the lock: either it is seen here, or its handler finds the waiter.
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
