import ActionKinds
import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// What a plan of answers to new refund requests found.
package struct AnswerPlan: Sendable {
    /// The approved batch; `nil` if no request is to be answered.
    package let batch: ActionBatch?
    /// The transaction IDs of requests that the ledger's records rule out.
    package let sortedOut: Set<String>
}

extension ActionLedger {
    /// Plans the answers to refund requests that have none, and approves them by the approval of the policy.
    ///
    /// Everything happens in one transaction: a batch is there with all of its rows and its approval, or not at all. Two processes
    /// plan one after the other, and the database accepts each request in one batch only. A request of a batch whose approval has expired
    /// before it was sent is planned again. The database compares the rows with the approved policy.
    ///
    /// - Parameter skipped: Transaction IDs whose requests are left out.
    /// - Returns: The batch, with at most as many rows as the approval and `approval.maximumRows` allow, the oldest requests first.
    /// - Throws: ``ActionRefusal`` if the policy has no approval in force, or if the rows are not what the policy gives;
    ///   ``ActionInputError``, ``Postgres/PostgresError``.
    package func planAnswers(except skipped: Set<String>) async throws -> AnswerPlan {
        guard let policy = job.policy else { throw ActionRefusal.noPolicy(job: job.name) }
        for _ in 1..<Self.planAttempts {
            do {
                return try await planAnswers(of: policy, except: skipped)
            } catch ActionRefusal.notOfPolicy {
                // A page has changed a record that a rule asks about while the rows were planned.
                continue
            }
        }
        return try await planAnswers(of: policy, except: skipped)
    }

    /// How often answers are planned if the database finds that their rows are not what the policy gives.
    private static let planAttempts = 3

    private func planAnswers(of policy: ConsumptionPolicy, except skipped: Set<String>) async throws -> AnswerPlan {
        do {
            return try await withoutErasedCustomers { connection, erased in
                try lockApprovals(on: connection)
                let approval = try policyInForce(on: connection)
                try endExpiredApprovals(on: connection)
                let limit = min(approval.rowsLeft, job.approval.maximumRows ?? .max)
                let input = PolicyInput(policy: policy, app: app, job: job)
                guard let answers = try input.unanswered(except: skipped, atMost: Int(limit), on: connection) else {
                    return AnswerPlan(batch: nil, sortedOut: [])
                }
                let id = try plan(
                    BatchSource(answers: answers),
                    without: erased,
                    requiresApproval: true,
                    on: connection
                )
                let sortedOut = try sortedOut(of: id, on: connection)
                // Nothing is kept of a batch without a row to send.
                guard try batch(id, on: connection).rowsToSend > 0 else { throw NothingToAnswer(sortedOut: sortedOut) }
                let approved = try connection.run(
                    "SELECT approve_by_policy($1::integer, $2::uuid, $3::bigint * interval '1 millisecond') AS is_approved",
                    [.integer(app.rawValue), .uuid(id), .bigint(job.approval.expires.wholeMilliseconds)]
                )
                guard try approved[0].bool("is_approved") else {
                    // It was in force, and may have expired since.
                    _ = try policyInForce(on: connection)
                    throw ActionRefusal.notOfPolicy(hash: approval.sha256)
                }
                crashPoint(.batchPlanned)
                return AnswerPlan(batch: try batch(id, on: connection), sortedOut: sortedOut)
            }
        } catch let nothing as NothingToAnswer {
            return AnswerPlan(batch: nil, sortedOut: nothing.sortedOut)
        } catch let error as PostgresError where error.isOvertaken {
            // Another job answers one of the requests. The next plan sees it.
            return AnswerPlan(batch: nil, sortedOut: [])
        }
    }

    private func endExpiredApprovals(on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            """
            UPDATE action_batches SET approval_ended_because = 'expired'
             WHERE app_id = $1 AND job = $2 AND approval_expires_at <= clock_timestamp() AND approval_ended_because IS NULL
               AND finished_at IS NULL
            """,
            [.integer(app.rawValue), .text(job.name)]
        )
    }

    /// The batches of the last day with rows to send or with an unknown outcome, the oldest first.
    package func openBatches() async throws -> [ActionBatch] {
        try await ledger.transaction { connection in
            try batches(on: connection, recentAndOpen: true).filter { $0.action == job.action.name }.reversed()
        }
    }

    private func sortedOut(of batch: [UInt8], on connection: borrowing PostgresConnection) throws -> Set<String> {
        let rows = try connection.run(
            "SELECT subject FROM action_rows WHERE app_id = $1 AND batch_id = $2 AND verdict <> 'valid' AND subject IS NOT NULL",
            [.integer(app.rawValue), .uuid(batch)]
        )
        return Set(try rows.map { try $0.text("subject") })
    }
}

/// The plan excluded every row, so the transaction is rolled back.
private struct NothingToAnswer: Error {
    let sortedOut: Set<String>
}
