import Basics
package import Postgres

extension Ledger {
    /// The most attempts of a transaction that fails for a temporary reason (deadlock, restart, lost connection).
    static let attempts = 5

    /// How often a batch may find that another worker has changed one of its rows meanwhile.
    ///
    /// Each time the other worker has committed, so the number of workers bounds it: at most 256 in each process.
    static let conflictLimit = 1_000

    /// Runs `body` in one transaction, and repeats it after a temporary failure or a lost connection.
    ///
    /// `body` can run more than once, so it must only read, or write the same each time.
    /// - Throws: ``Postgres/PostgresError`` after the last attempt, ``LockTimeout`` if it waited for a lock, errors of
    ///   `body`, `CancellationError`.
    package func transaction<R: Sendable>(
        _ isolation: IsolationLevel = .readCommitted,
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await transaction(isolation, on: .pages, body)
    }

    /// Runs `body` in one transaction, on the connections of one lane.
    func transaction<R: Sendable>(
        _ isolation: IsolationLevel = .readCommitted,
        on lane: Lane,
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await persistently(on: lane) { connection in
            try connection.transaction(isolation) { transaction in try body(transaction) }
        }
    }

    /// Runs `body` on a session, and repeats it after a temporary failure or a lost connection.
    package func persistently<R: Sendable>(
        on lane: Lane = .pages,
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        var attempt = 1
        return try await namingHolders(on: lane) {
            while true {
                do {
                    return try await sessions(of: lane).withConnection(body)
                } catch let error as PostgresError where error.mayPass && attempt < Self.attempts {
                    attempt += 1
                    try await settle(error, on: lane)
                }
            }
        }
    }

    /// Waits before the next attempt: a short time, or until the server is back.
    func settle(_ error: PostgresError, on lane: Lane) async throws {
        if error.isConnectionLoss {
            try await sessions(of: lane).connect(within: deadline)
        } else {
            try await Task.sleep(for: .milliseconds(Int64.random(in: 5...100)))
        }
    }
}

extension PostgresError {
    /// Whether the same transaction can succeed when it is repeated.
    var mayPass: Bool { (isRetryable || isConnectionLoss) && !isUnreachable }
}
