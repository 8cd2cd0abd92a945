package import Postgres

/// A streaming replica: it has what its primary had at an earlier moment, and cannot be written to.
///
/// Commands that only read accept one.
package struct Replica: Codable, Sendable, Equatable {
    /// Everything that was committed on the primary until this moment can be read: ISO 8601, UTC.
    ///
    /// It grows with the primary's transactions and checkpoints, so on an idle primary it can be minutes ago although nothing is
    /// missing.
    package let appliedUntil: String

    /// Reads the state of the server; `nil` for a primary.
    ///
    /// - Parameter connection: Outside a transaction. A snapshot that is taken afterwards has at least what
    ///   ``appliedUntil`` says.
    /// - Throws: ``Postgres/PostgresError``.
    init?(_ connection: borrowing PostgresConnection) throws {
        guard let row = try Self.applied(connection).first else { return nil }
        appliedUntil = try row.text("applied")
    }

    /// No row on a primary.
    private static func applied(_ connection: borrowing PostgresConnection) throws(PostgresError) -> PostgresRows {
        // Since the server started it may have applied no transaction. The checkpoint is from its last restart point.
        let checkpoint = "(pg_control_checkpoint()).checkpoint_time"
        do throws(PostgresError) {
            return try rows("greatest(pg_last_xact_replay_timestamp(), \(checkpoint))", connection)
        } catch {
            // Some servers, such as Aurora PostgreSQL, have no functions about WAL.
            guard [.objectNotInPrerequisiteState, .featureNotSupported].contains(error.state) else { throw error }
            return try rows(checkpoint, connection)
        }
    }

    private static func rows(
        _ expression: String,
        _ connection: borrowing PostgresConnection
    ) throws(PostgresError) -> PostgresRows {
        try connection.run("SELECT \(Ledger.moment(expression)) AS applied WHERE pg_is_in_recovery()")
    }
}

extension Ledger {
    /// Runs `body` in a transaction that reads one snapshot, on a primary or a replica.
    ///
    /// - Parameter body: Can run more than once. It gets the replica, `nil` on a primary.
    /// - Throws: As ``Postgres/RetryingPool/transaction(_:_:)``.
    package func snapshot<R: Sendable>(
        _ body: @Sendable (borrowing PostgresConnection, Replica?) throws -> R
    ) async throws -> R {
        try await pages.withConnection { connection in
            let replica = try Replica(connection)
            return try connection.transaction(.readOnlySnapshot) { try body($0, replica) }
        }
    }

    /// Refuses a replica, before a command that writes begins.
    ///
    /// - Throws: ``LedgerError/readOnlyReplica``, ``Postgres/PostgresError``.
    package func requirePrimary() async throws {
        let replica = try await pages.withConnection { try Replica($0) }
        if replica != nil { throw LedgerError.readOnlyReplica }
    }
}
