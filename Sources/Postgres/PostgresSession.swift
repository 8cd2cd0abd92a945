import Workers

/// A connection and the thread it blocks.
///
/// Connects when first lent, and again after a break. One caller at a time: ``PostgresPool`` sees to that.
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
    ///   - prepare: Runs on every new connection before anything else does, say `SET search_path`.
    package init(
        conninfo: ConnectionString,
        prepare: @escaping @Sendable (borrowing PostgresConnection) throws -> Void = { _ in }
    ) {
        self.conninfo = conninfo
        self.prepare = prepare
    }

    /// Lends the connection to `body`; the compiler keeps it from leaving.
    ///
    /// Cancelling the task stops the statement that runs, and throws `CancellationError` unless `body` had finished.
    ///
    /// - Parameters:
    ///   - patience: How long to try connecting, when there is no open connection.
    ///   - body: Runs on this session's own thread.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; ``PostgresError`` from connecting, `isUnreachable` past `patience`.
    package func withConnection<R: Sendable>(
        patience: Duration,
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await connect(within: patience)
        guard let canceller = connection?.canceller else { preconditionFailure("connected in the line above") }
        let loan = canceller.begin()
        defer { canceller.end(loan) }
        do {
            return try await withTaskCancellationHandler {
                try lend(body)
            } onCancel: {
                canceller.cancel(loan)
            }
        } catch SQLState.queryCanceled where Task.isCancelled {
            throw CancellationError()
        }
    }

    /// Connects unless there is an open connection, trying again while the server is absent, starting or full.
    ///
    /// - Throws: ``PostgresError``: refused credentials and the like at once, `isUnreachable` past `patience`.
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
                // Full jitter, so that many workers do not come back at the same moment.
                let pause = delay * Double.random(in: 0.5...1)
                guard ContinuousClock.now + pause < deadline else {
                    throw PostgresError(.unreachable, error.state, "no session within \(patience): \(error.message)")
                }
                try await Task.sleep(for: pause)
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    private func lend<R>(_ body: (borrowing PostgresConnection) throws -> R) throws -> R {
        defer { dropIfSpoiled() }
        switch connection {
        case .some(let open): return try body(open)
        case .none: preconditionFailure("a session lends only what it has connected")
        }
    }

    /// A session that broke, or that `body` left inside a transaction, is not lent again.
    private func dropIfSpoiled() {
        let isSpoiled = connection?.isBroken == true || connection?.isInTransaction == true
        if isSpoiled { connection = nil }
    }

    /// A server that stopped while nobody asked it anything has closed the socket.
    private func dropIfLost() {
        if connection?.isLost() == true { connection = nil }
    }
}
