import Basics

/// A connection and the thread that it blocks.
///
/// Connects at its first use, and again after a lost connection. ``PostgresPool`` lets one caller use it at a time.
package actor PostgresSession {
    private nonisolated let thread = BlockingThread(label: "storeledger.postgres")
    private let conninfo: ConnectionString
    private let prepare: @Sendable (borrowing PostgresConnection) throws -> Void
    private var connection: PostgresConnection?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - conninfo: A libpq connection string, PostgreSQL manual, "Connection Strings".
    ///   - prepare: Runs first on every new connection, for example `SET search_path`.
    package init(
        conninfo: ConnectionString,
        prepare: @escaping @Sendable (borrowing PostgresConnection) throws -> Void = { _ in }
    ) {
        self.conninfo = conninfo
        self.prepare = prepare
    }

    /// Calls `body` with the connection, which `body` cannot keep.
    ///
    /// Cancelling the task stops the running statement and throws `CancellationError`, unless `body` has finished.
    ///
    /// - Parameters:
    ///   - patience: How long to try to connect when there is no open connection.
    ///   - body: Runs on this session's own thread.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; ``PostgresError`` from connecting, `isUnreachable` after `patience`.
    package func withConnection<R: Sendable>(
        patience: Duration,
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await connect(within: patience)
        guard let canceller = connection?.canceller else { preconditionFailure("the connection was opened above") }
        let loan = canceller.begin()
        defer { canceller.end(loan) }
        do {
            return try await withTaskCancellationHandler {
                try use(body)
            } onCancel: {
                canceller.cancel(loan)
            }
        } catch SQLState.queryCanceled where Task.isCancelled {
            throw CancellationError()
        }
    }

    /// Connects unless there is an open connection, and retries while the server is unreachable, starting or full.
    ///
    /// - Throws: ``PostgresError``: errors that retrying cannot fix at once, `isUnreachable` after `patience`.
    package func connect(within patience: Duration) async throws {
        let deadline = ContinuousClock.now + patience
        var delay = Duration.milliseconds(50)
        while true {
            try Task.checkCancellation()
            dropIfLost()
            guard connection == nil else { return }
            do {
                let new = try PostgresConnection(conninfo)
                try prepare(new)
                connection = consume new
            } catch let error as PostgresError {
                try Task.checkCancellation()
                guard error.isWorthReconnecting else { throw error }
                // Full jitter, so that many workers do not retry at the same moment.
                let pause = delay * Double.random(in: 0.5...1)
                guard ContinuousClock.now + pause < deadline else {
                    throw PostgresError(.unreachable, error.state, "no session within \(patience): \(error.message)")
                }
                try await Task.sleep(for: pause)
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    private func use<R>(_ body: (borrowing PostgresConnection) throws -> R) throws -> R {
        defer { dropIfSpoiled() }
        switch connection {
        case .some(let open): return try body(open)
        case .none: preconditionFailure("the connection was opened before")
        }
    }

    /// Closes a session that is broken or that `body` left inside a transaction.
    private func dropIfSpoiled() {
        let isSpoiled = connection?.isBroken == true || connection?.isInTransaction == true
        if isSpoiled { connection = nil }
    }

    /// Closes an idle session whose socket the server has closed.
    private func dropIfLost() {
        if connection?.isLost() == true { connection = nil }
    }
}
