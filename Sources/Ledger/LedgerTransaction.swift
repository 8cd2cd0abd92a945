package import Postgres
import Workers

extension Ledger {
    /// How often a transaction is tried that the server ended for reasons of its own (deadlock, restart, lost line).
    static let attempts = 5

    /// Runs `body` in one transaction, and again from the start when the server asks for that or goes away.
    ///
    /// Only for a `body` that may run twice: it reads, or what it writes is the same the second time.
    /// - Throws: ``Postgres/PostgresError`` after the last attempt, ``LockTimeout`` when that waited for a lock, whatever `body` throws, `CancellationError`.
    package func transaction<R: Sendable>(
        _ isolation: IsolationLevel = .readCommitted,
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await transaction(isolation, on: .pages, body)
    }

    /// The same on the connections of one lane.
    func transaction<R: Sendable>(
        _ isolation: IsolationLevel = .readCommitted,
        on lane: Lane,
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await persistently(on: lane) { connection in
            try connection.transaction(isolation) { transaction in try body(transaction) }
        }
    }

    /// Runs `body` on a session, and again from the start when the server asks for that or goes away.
    func persistently<R: Sendable>(
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

    /// Waits until another attempt makes sense: a moment, or until the server is back.
    func settle(_ error: PostgresError, on lane: Lane) async throws {
        if error.isConnectionLoss {
            try await sessions(of: lane).connect(within: deadline)
        } else {
            try await Task.sleep(for: .milliseconds(Int64.random(in: 5...100)))
        }
    }
}

extension PostgresError {
    /// Whether the same transaction may pass when tried again.
    var mayPass: Bool { (isRetryable || isConnectionLoss) && !isUnreachable }
}
