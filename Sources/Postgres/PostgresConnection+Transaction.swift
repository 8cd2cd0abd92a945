import Basics
import CLibPQ

extension PostgresConnection {
    /// Runs `body` in a transaction, which commits when `body` returns and rolls back when it throws.
    ///
    /// Transactions do not nest.
    ///
    /// - Parameters:
    ///   - isolation: What the transaction sees of concurrent ones.
    ///   - keepsPlans: Whether ``run(_:_:rows:answer:)`` plans a statement once per session, for all parameters.
    /// - Throws: The error of `body`; of ``TransactionWatch``; ``PostgresError`` of `COMMIT`. When the answer to `COMMIT` is lost,
    ///   `isOutcomeUnknown` is true and the caller must read back whether it committed.
    package borrowing func transaction<R>(
        _ isolation: IsolationLevel = .readCommitted,
        keepsPlans: Bool = false,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        precondition(!isInTransaction, "transactions do not nest")
        try refuseIfCancelled("BEGIN")
        let value: R
        do {
            try begin(beginning(isolation) + (keepsPlans ? "SET LOCAL plan_cache_mode = force_generic_plan" : ""))
            if isolation != .repeatableRead { try statements.watch?.check(on: self) }
            value = try body(self)
            if isolation == .repeatableRead { try statements.watch?.check(on: self) }
            try refuseIfCancelled("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
    }

    private borrowing func begin(_ statement: String) throws {
        guard let watch = statements.watch, let lock = watch.lock else {
            try execute(statement)
            return
        }
        do throws(PostgresError) {
            try execute("\(statement); \(lock)")
        } catch {
            throw watch.meaning(of: error)
        }
    }

    /// Begins a transaction that the caller ends, by a statement or with the session.
    package borrowing func begin() throws(PostgresError) { try execute(beginning(.readCommitted)) }

    /// Runs one statement that PostgreSQL refuses inside a transaction, such as `CREATE INDEX CONCURRENTLY`.
    ///
    /// - Parameter setting: Another setting for this statement.
    /// - Throws: ``PostgresError``.
    package borrowing func runAlone(_ sql: String, with setting: SessionSettings.Setting) throws(PostgresError) {
        try refuseIfCancelled(sql)
        let changed = settings.adding([setting])
        let after = isPooled ? changed.resets : settings.statements(.session)
        do throws(PostgresError) {
            try execute(changed.statements(.session))
            try execute(sql)
        } catch {
            do throws(PostgresError) { try execute(after) } catch { statements.sessionEnded = true }
            throw error
        }
        try execute(after)
    }

    /// Runs statements in a separate transaction if they need one for the settings of a pooled session.
    borrowing func inOwnTransaction<R>(
        _ body: (borrowing PostgresConnection) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        let value: R
        do throws(PostgresError) {
            try begin()
            value = try body(self)
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
    }

    /// `BEGIN` and, in a pooled session, the settings.
    private func beginning(_ isolation: IsolationLevel) -> String {
        "BEGIN ISOLATION LEVEL \(isolation.rawValue); " + (isPooled ? settings.statements(.transaction) : "")
    }

    /// Whether a transaction is open, failed or not.
    var isInTransaction: Bool {
        let status = unsafe PQtransactionStatus(handle)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
    }

    private borrowing func commit() throws(PostgresError) {
        let answer: PostgresRows
        do {
            try send("COMMIT")
            crashPoint(.commitSent, socket: unsafe PQsocket(handle))
            answer = try self.answer(of: "COMMIT")
        } catch  where isBroken {
            throw PostgresError(.outcomeUnknown, error.state, "the answer to COMMIT was lost: \(error.message)")
        } catch {
            rollBack()
            throw error
        }
        // When a statement failed and `body` caught its error, COMMIT rolls back without an error.
        guard answer.commandTag == "COMMIT" else {
            throw PostgresError(
                .server,
                .inFailedTransaction,
                "the transaction was rolled back because one of its statements had failed",
                statement: "COMMIT"
            )
        }
    }

    /// Rolls back.
    ///
    /// When the server cannot be reached, closes the session, which has the same effect.
    private borrowing func rollBack() {
        guard isInTransaction, !isBroken else { return }
        do throws(PostgresError) {
            try execute("ROLLBACK")
        } catch {
            // The caller reports the first error.
            statements.sessionEnded = true
        }
        if isInTransaction { statements.sessionEnded = true }
    }
}
