import CLibPQ
import Workers

extension PostgresConnection {
    /// Runs `body` in a transaction: it commits when `body` returns and rolls back when it throws.
    ///
    /// Transactions do not nest.
    ///
    /// - Parameters:
    ///   - isolation: What the transaction sees of others.
    ///   - keepsPlans: Whether ``run(_:_:rows:answer:)`` plans a statement once for the session, for any parameters.
    ///   - body: The statements.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; ``PostgresError`` of `BEGIN` or `COMMIT`. When the answer to `COMMIT` is lost,
    ///   `isOutcomeUnknown` is true and only reading back tells what happened.
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
            try execute("BEGIN ISOLATION LEVEL \(isolation.rawValue)\(settings)")
            value = try body(self)
            try refuseIfCancelled("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
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
        // A transaction that failed, and whose error `body` swallowed, ends like this without any error.
        guard answer.commandTag == "COMMIT" else {
            throw PostgresError(
                .server,
                .inFailedTransaction,
                "the transaction was rolled back because one of its statements had failed",
                statement: "COMMIT"
            )
        }
    }

    /// Ends the transaction; where the server cannot be told, ends the session, which comes to the same.
    private borrowing func rollBack() {
        guard isInTransaction, !isBroken else { return }
        do throws(PostgresError) {
            try execute("ROLLBACK")
        } catch {
            // The first error is the one worth reporting.
            statements.sessionEnded = true
        }
        if isInTransaction { statements.sessionEnded = true }
    }
}
