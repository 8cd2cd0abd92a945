package import Postgres

extension Ledger {
    /// The default lock timeout of a session.
    package static let defaultLockTimeout = "30s"
    /// The lock timeout of starting a run, a refresh, a migration and building an index.
    package static let longLockTimeout = Duration.seconds(600)

    /// Runs statements with another lock timeout, and then restores the default of 30 s.
    ///
    /// - Parameters:
    ///   - limit: The lock timeout, at least 1 ms.
    ///   - purpose: See ``LockTimeout/purpose``.
    ///   - scope: The locks whose holders the error names.
    ///   - connection: Inside a transaction.
    /// - Throws: ``LockTimeout``, after which the transaction is not repeated; errors of `body`.
    package static func waiting<R>(
        _ limit: Duration,
        for purpose: String,
        _ scope: LockTimeout.Scope,
        on connection: borrowing PostgresConnection,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        do {
            try connection.script("SET LOCAL lock_timeout = \(limit.lockTimeoutMilliseconds)")
            let result = try body(connection)
            try connection.script("SET LOCAL lock_timeout = '\(defaultLockTimeout)'")
            return result
        } catch SQLState.lockNotAvailable {
            throw LockTimeout(purpose: purpose, limit: limit, scope: scope)
        }
    }
}

extension Duration {
    /// The value of `lock_timeout`; at least 1, because 0 means no limit.
    var lockTimeoutMilliseconds: Int32 {
        let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        return Int32(min(max(milliseconds, 1), Int64(Int32.max)))
    }
}
