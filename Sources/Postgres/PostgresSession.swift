import Basics

/// A connection and the thread that it blocks.
///
/// Connects at its first use, and again after a lost connection. ``PostgresPool`` lets one caller use it at a time.
package actor PostgresSession {
    /// How long a session tries to connect before it reports that it waits: a restart that takes less is not worth a message.
    package static let quietTime = Duration.seconds(1)

    private nonisolated let thread = BlockingThread(label: "storeledger.postgres")
    private let conninfo: ConnectionString
    private let settings: SessionSettings
    private let watch: (any TransactionWatch)?
    private let waiting: @Sendable (PostgresError) -> Void
    private let lockWaits: LockWaitWatch?
    private var connection: PostgresConnection?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - conninfo: A libpq connection string, PostgreSQL manual, "Connection Strings".
    ///   - settings: The parameters of all statements.
    ///   - waiting: Called after a failed attempt to connect, unless the next attempt comes within ``quietTime`` of the first.
    ///   - watch: Takes part in each transaction.
    ///   - lockWaits: Reports when a use of the connection waits for a lock.
    package init(
        conninfo: ConnectionString,
        settings: SessionSettings = .standard,
        waiting: @escaping @Sendable (PostgresError) -> Void = { _ in },
        watch: (any TransactionWatch)? = nil,
        lockWaits: LockWaitWatch? = nil
    ) {
        self.lockWaits = lockWaits
        self.conninfo = conninfo
        self.settings = settings
        self.watch = watch
        self.waiting = waiting
    }

    /// Calls `body` with the connection, which `body` cannot keep.
    ///
    /// Cancelling the task stops the running statement and throws `CancellationError`, unless `body` has finished.
    ///
    /// - Parameters:
    ///   - patience: How long to try to connect when there is no open connection.
    ///   - yields: Asked when the server has no room for this session: whether the attempt then ends.
    ///   - body: Runs on this session's own thread.
    /// - Throws: The error of `body`; ``PostgresError`` from connecting, `isUnreachable` after `patience`; ``ServerIsFull``.
    package func withConnection<R: Sendable>(
        patience: Duration,
        yields: @Sendable () -> Bool = { false },
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await connect(within: patience, yields: yields)
        guard let canceler = connection?.canceler, let process = connection?.processID else {
            preconditionFailure("the connection was opened above")
        }
        let use = canceler.begin()
        lockWaits?.begin(process)
        defer {
            canceler.end(use)
            lockWaits?.end(process)
        }
        do {
            return try await withTaskCancellationHandler {
                try callWithConnection(body)
            } onCancel: {
                canceler.cancel(use)
            }
        } catch SQLState.queryCanceled where Task.isCancelled {
            throw CancellationError()
        }
    }

    /// Connects unless there is an open connection, and retries while the server is unreachable, starting or full.
    ///
    /// - Throws: ``PostgresError``: at once when retrying cannot help, otherwise `isUnreachable` after `patience`; ``ServerIsFull``.
    package func connect(within patience: Duration, yields: @Sendable () -> Bool = { false }) async throws {
        let began = ContinuousClock.now
        let deadline = began + patience
        var delay = Duration.milliseconds(50)
        while true {
            try Task.checkCancellation()
            closeIfLost()
            guard connection == nil else { return }
            do throws(PostgresError) {
                let new = try PostgresConnection(conninfo, settings: settings)
                new.statements.watch = watch
                watch?.sessionOpened()
                connection = consume new
            } catch {
                try Task.checkCancellation()
                if error.state == .tooManyConnections, yields() { throw ServerIsFull() }
                guard error.isWorthReconnecting else { throw error }
                // With jitter, so that many workers do not retry at the same moment.
                let pause = delay * Double.random(in: 0.5...1)
                guard ContinuousClock.now + pause < deadline else {
                    throw PostgresError(
                        .unreachable,
                        error.state,
                        "no session within \(patience.inWords): \(error.message)"
                    )
                }
                if ContinuousClock.now + pause - began >= Self.quietTime {
                    waiting(
                        PostgresError(
                            error.reason,
                            error.state,
                            "\(error.message) (gives up after \(patience.inWords))"
                        )
                    )
                }
                try await Task.sleep(for: pause)
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    private func callWithConnection<R>(_ body: (borrowing PostgresConnection) throws -> R) throws -> R {
        defer { closeIfUnusable() }
        switch connection {
        case .some(let open): return try body(open)
        case .none: preconditionFailure("the connection was opened before")
        }
    }

    /// Closes a session that is broken or that `body` left inside a transaction.
    private func closeIfUnusable() {
        let isUnusable = connection?.isBroken == true || connection?.isInTransaction == true
        if isUnusable { connection = nil }
    }

    /// Closes an idle session whose socket the server has closed.
    private func closeIfLost() {
        if connection?.isLost() == true { connection = nil }
    }
}
