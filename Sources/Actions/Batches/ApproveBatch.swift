import AppStoreModel
import Basics
import JobPlan
import Ledger
import LedgerSchema
import Postgres

extension ActionLedger {
    /// Approves a batch.
    ///
    /// The database records the role and the time, and refuses a second approval.
    ///
    /// - Parameters:
    ///   - sha256: The hash that the plan showed.
    ///   - rows: The number of rows that the batch will send.
    /// - Returns: The approved batch.
    /// - Throws: ``ActionRefusal``, ``Postgres/PostgresError``.
    package func approve(_ sha256: String, rows: Int64) async throws -> ActionBatch {
        try await ledger.transaction { connection in
            let found = try batches(on: connection)
            guard !found.isEmpty else { throw ActionRefusal.noBatch(job: job.name) }
            guard let batch = found.first(where: { $0.sha256 == sha256 }) else {
                throw ActionRefusal.unknownHash(found: sha256, job: job.name)
            }
            try refuse(batch, rows: rows)
            let approved = try connection.run(
                """
                UPDATE action_batches SET approved_rows = $3, approved_at = clock_timestamp(),
                       approval_expires_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
                 WHERE app_id = $1 AND batch_id = $2 AND approved_at IS NULL
                """,
                [
                    .integer(app.rawValue), .uuid(batch.id), .bigint(rows),
                    .bigint(job.approval.expires.wholeMilliseconds),
                ]
            )
            crashPoint(.batchApproved)
            let after = try batches(on: connection).first { $0.id == batch.id }
            guard let after else { throw ActionRefusal.unknownHash(found: sha256, job: job.name) }
            // Another process has approved it meanwhile.
            guard approved.affected == 1 else { throw ActionRefusal.alreadyApproved(after) }
            return after
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
