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
    ///   - body: The statements.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; of ``TransactionWatch``; ``PostgresError`` of `COMMIT`. When the answer to `COMMIT` is lost,
    ///   `isOutcomeUnknown` is true and the caller must read back whether it committed.
    package borrowing func transaction<R>(
        _ isolation: IsolationLevel = .readCommitted,
        keepsPlans: Bool = false,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        precondition(!isInTransaction, "transactions do not nest")
        try refuseIfCancelled("BEGIN")
        let settings = keepsPlans ? "; SET LOCAL plan_cache_mode = force_generic_plan" : ""
        let value: R
        do {
            try begin("BEGIN ISOLATION LEVEL \(isolation.rawValue)\(settings)")
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
        guard let watch = statements.watch else {
            try execute(statement)
            return
        }
        try watch.begin(statement, on: self)
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
