/// A pool whose transactions are repeated after a temporary failure, and whose lock timeouts name the sessions that
/// hold the lock.
package struct RetryingPool: Sendable {
    /// The most attempts of a transaction that fails for a temporary reason (deadlock, restart, lost connection).
    package static let attempts = 5

    /// The sessions, for callers that repeat by their own rules, with ``settle(_:)`` between two attempts.
    package let pool: PostgresPool
    /// The schema in which the holders of locks are searched.
    private let schema: String
    /// How long to wait for a server that does not answer.
    private let deadline: Duration

    /// Creates a pool without connecting.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string or URL.
    ///   - size: The most sessions, at least 1.
    ///   - schema: The schema in which the holders of locks are searched.
    ///   - deadline: How long to wait for a server that does not answer, in each attempt.
    ///   - watch: Takes part in each transaction.
    ///   - waiting: Called while the server cannot be reached; see ``PostgresSession/init(conninfo:settings:waiting:watch:)``.
    ///   - lockWaits: Reports when a session waits for a lock.
    ///   - settings: The parameters of all statements.
    package init(
        conninfo: ConnectionString,
        size: Int,
        schema: String,
        deadline: Duration,
        watch: (any TransactionWatch)? = nil,
        waiting: @escaping @Sendable (PostgresError) -> Void = { _ in },
        lockWaits: LockWaitWatch? = nil,
        settings: SessionSettings
    ) {
        pool = PostgresPool(
            conninfo: conninfo,
            size: size,
            patience: deadline,
            settings: settings,
            waiting: waiting,
            watch: watch,
            lockWaits: lockWaits
        )
        self.schema = schema
        self.deadline = deadline
    }

    /// Runs `body` in one transaction, and repeats it after a temporary failure or a lost connection.
    ///
    /// `body` can run more than once, so it must only read, or write the same each time.
    /// - Throws: ``PostgresError`` after the last attempt, ``LockTimeout`` if it waited for a lock, errors of `body`,
    ///   `CancellationError`.
    package func transaction<R: Sendable>(
        _ isolation: IsolationLevel = .readCommitted,
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await withConnection { connection in
            try connection.transaction(isolation) { transaction in try body(transaction) }
        }
    }

    /// Runs `body` on a session, and repeats it after a temporary failure or a lost connection.
    ///
    /// - Throws: As ``transaction(_:_:)``.
    package func withConnection<R: Sendable>(
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        var attempt = 1
        return try await namingHolders {
            while true {
                do {
                    return try await pool.withConnection(body)
                } catch let error as PostgresError where error.mayPass && attempt < Self.attempts {
                    attempt += 1
                    try await settle(error)
                } catch let error as PostgresError where error.doesNotFitSchema {
                    // The watch of an empty transaction can say why.
                    try await pool.withConnection { try $0.transaction { _ in } }
                    throw error
                }
            }
        }
    }

    /// Waits before the next attempt: a short time, or until the server is back.
    package func settle(_ error: PostgresError) async throws {
        if error.isConnectionLoss {
            try await pool.connect(within: deadline)
        } else {
            try await Task.sleep(for: .milliseconds(Int64.random(in: 5...100)))
        }
    }

    /// Repeats a ``LockTimeout`` of `body` with the sessions that hold such locks now.
    ///
    /// These sessions usually caused the timeout.
    package func namingHolders<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let timeout as LockTimeout where timeout.holders.isEmpty {
            throw await named(timeout)
        } catch SQLState.lockNotAvailable {
            throw await named(LockTimeout(purpose: "a lock in the ledger", limit: nil, scope: .schema))
        }
    }

    private func named(_ timeout: LockTimeout) async -> LockTimeout {
        var timeout = timeout
        let (schema, scope) = (schema, timeout.scope)
        // If the query fails, the error is reported without holders.
        let holders = try? await pool.withConnection { connection in
            try LockHolder.all(in: schema, scope, on: connection)
        }
        timeout.holders = holders ?? []
        return timeout
    }
}

extension PostgresError {
    /// Whether the statement names a table, column or function that does not exist.
    fileprivate var doesNotFitSchema: Bool {
        [.undefinedTable, .undefinedColumn, .undefinedFunction].contains(state)
    }

    /// Whether the same transaction can succeed when it is repeated.
    package var mayPass: Bool { (isRetryable || isConnectionLoss) && !isUnreachable }
}
