import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres

extension ActionLedger {
    /// Approves a batch.
    ///
    /// The database records the role and the time, and refuses a second approval. In the same transaction, the approvals of the job's
    /// older batches end, and their rows that were not sent are cancelled.
    ///
    /// - Parameters:
    ///   - sha256: The hash that the plan showed.
    ///   - rows: The number of rows that the batch will send.
    /// - Throws: ``ActionRefusal``, ``Postgres/PostgresError``.
    package func approve(_ sha256: String, rows: Int64) async throws -> ActionBatch {
        do {
            return try await ledger.transaction { connection in
                try lockApprovals(on: connection)
                return try approve(sha256, rows: rows, on: connection)
            }
        } catch let error as PostgresError where error.isOvertaken {
            throw ActionRefusal.overtaken(hash: sha256)
        }
    }

    private func approve(_ sha256: String, rows: Int64, on connection: borrowing PostgresConnection) throws
        -> ActionBatch
    {
        let found = try batches(on: connection)
        guard !found.isEmpty else { throw ActionRefusal.noBatch(job: job.name) }
        guard let batch = found.first(where: { $0.sha256 == sha256 }) else {
            throw ActionRefusal.unknownHash(found: sha256, job: job.name)
        }
        try refuse(batch, rows: rows)
        let approved = try connection.run(
            .approveBatch,
            [
                "app": .integer(app.rawValue),
                "batch": .uuid(batch.id),
                "rows": .bigint(rows),
                "term_milliseconds": .bigint(job.approval.expires.wholeMilliseconds),
            ]
        )
        crashPoint(.batchApproved)
        let after = try batches(on: connection).first { $0.id == batch.id }
        guard let after else { throw ActionRefusal.unknownHash(found: sha256, job: job.name) }
        // Another process has approved it meanwhile.
        guard approved.affected == 1 else { throw ActionRefusal.alreadyApproved(after) }
        return after
    }

    /// Keeps other approvals, withdrawals and plans of answers of the job waiting until the end of the transaction.
    ///
    /// It comes before any lock on a batch.
    func lockApprovals(on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            "SELECT lock_approvals($1::integer, $2::text)",
            [.integer(app.rawValue), .text(job.name)]
        )
    }

    /// Ends the approvals of all batches of the job with rows left, and cancels their rows that were not sent.
    ///
    /// - Returns: The number of batches.
    func endApprovals(_ cause: ActionBatch.ApprovalEnd.Cause, on connection: borrowing PostgresConnection) throws
        -> Int64
    {
        try connection.run(
            "SELECT end_approvals($1::integer, $2::text, $3::text) AS batches",
            [.integer(app.rawValue), .text(job.name), .text(cause.rawValue)]
        )[0].int64("batches")
    }

    /// Ends the approvals of batches that have the values of another policy, and cancels their rows that were not sent.
    ///
    /// - Parameter policy: ``JobFiles/ActionJob/policySHA256`` of the job file as it is now; `nil` without a policy.
    /// - Throws: ``Postgres/PostgresError``.
    package func endApprovals(ofOtherPoliciesThan policy: String?) async throws {
        try await ledger.transaction { connection in
            _ = try connection.run(
                """
                UPDATE action_batches SET approval_ended_because = 'policy changed'
                 WHERE app_id = $1 AND job = $2 AND policy_sha256 IS DISTINCT FROM $3::text AND policy_sha256 IS NOT NULL
                   AND (approved_at IS NOT NULL OR NOT approval_required) AND approval_ended_because IS NULL AND finished_at IS NULL
                """,
                [.integer(app.rawValue), .text(job.name), policy.map(Cell.text) ?? .null]
            )
        }
    }

    private func refuse(_ batch: ActionBatch, rows: Int64) throws {
        guard batch.approvedAt == nil else { throw ActionRefusal.alreadyApproved(batch) }
        guard batch.requiresApproval else { throw ActionRefusal.notRequired(hash: batch.sha256) }
        guard batch.rowsToSend > 0 else { throw ActionRefusal.nothingToSend(hash: batch.sha256) }
        guard batch.rowsToSend == rows else {
            throw ActionRefusal.wrongCount(found: rows, planned: batch.rowsToSend)
        }
        try refuseTooMany(batch)
    }

    /// Refuses a batch with more rows than the job file allows.
    func refuseTooMany(_ batch: ActionBatch) throws {
        guard let maximum = job.approval.maximumRows, batch.rowsToSend > maximum else { return }
        throw ActionRefusal.tooManyRows(rows: batch.rowsToSend, maximum: maximum)
    }
}

extension ActionRefusal {
    fileprivate static func alreadyApproved(_ batch: ActionBatch) -> ActionRefusal {
        .alreadyApproved(
            hash: batch.sha256,
            by: batch.approvedBy ?? "another session",
            at: batch.approvedAt?.iso8601 ?? ""
        )
    }
}

extension PostgresError {
    /// Whether another batch has sent a row of the batch since it was planned, or has the answer to the same refund request.
    var isOvertaken: Bool { state == .overtakenBatch || state == .uniqueViolation }
}
