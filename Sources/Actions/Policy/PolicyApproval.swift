import ActionKinds
package import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

/// An approval of a policy: while it is in force, new refund requests are answered without an approval of each batch.
package struct PolicyApproval: Equatable, Sendable {
    package let id: Int64
    /// ``JobFiles/ActionJob/policySHA256`` of the approved policy.
    package let sha256: String
    /// Whether the database can compare rows with the policy; not for an approval that an earlier version recorded.
    package let namesRules: Bool
    package let maximumRows: Int64
    /// The rows of the batches that were approved by it, whether they were sent or not.
    package let approvedRows: Int64
    package let approvedAt: UnixMilliseconds
    package let approvedBy: String
    package let expiresAt: UnixMilliseconds
    /// Whether it has expired, by the database's clock.
    package let isExpired: Bool
    package let withdrawnAt: UnixMilliseconds?
    package let withdrawnBy: String?

    package var rowsLeft: Int64 { max(0, maximumRows - approvedRows) }

    fileprivate init(_ row: PostgresRow) throws {
        id = try row.int64("approval_id")
        sha256 = try row.text("policy_sha256")
        namesRules = try row.bool("names_rules")
        maximumRows = try row.int64("maximum_rows")
        approvedRows = try row.int64("approved_rows")
        approvedAt = UnixMilliseconds(rawValue: try row.timestamp("approved_at"))
        approvedBy = try row.text("approved_by")
        expiresAt = UnixMilliseconds(rawValue: try row.timestamp("expires_at"))
        isExpired = try row.bool("is_expired")
        withdrawnAt = try row.timestampOrNil("withdrawn_at").map(UnixMilliseconds.init(rawValue:))
        withdrawnBy = try row.textOrNil("withdrawn_by")
    }
}

/// What a withdrawal has ended.
package struct Withdrawal: Sendable {
    /// The approval of the policy; `nil` if none was in force.
    package let policy: PolicyApproval?
    /// The batches whose rows that were not sent are cancelled.
    package let batches: Int64
}

extension ActionLedger {
    /// Approves the job's policy, so that new requests are answered without an approval of each batch.
    ///
    /// The database records the role and the time. An earlier approval of the job's policy no longer counts, and in the same
    /// transaction the rows of the job's batches that were not sent are cancelled.
    ///
    /// - Parameters:
    ///   - sha256: The hash that `actions rehearse` showed.
    ///   - rows: The most rows of all batches that follow from the approval; at least 1.
    ///   - term: How long it is in force.
    /// - Throws: ``ActionRefusal``, ``Postgres/PostgresError``.
    package func approvePolicy(_ sha256: String, rows: Int64, for term: Duration) async throws -> PolicyApproval {
        guard let policy = job.policy, let found = job.policySHA256 else { throw ActionRefusal.noPolicy(job: job.name) }
        guard found == sha256 else { throw ActionRefusal.otherPolicy(named: sha256, found: found) }
        return try await ledger.transaction { connection in
            try lockApprovals(on: connection)
            _ = try connection.run(
                .approvePolicy,
                [
                    "app": .integer(app.rawValue),
                    "job": .text(job.name),
                    "action": .text(job.action.name.rawValue),
                    "policy_hash": .text(sha256),
                    "policy": .jsonb(JSONWriter.bytes(.object(policy.json))),
                    "maximum_rows": .bigint(rows),
                    "term_milliseconds": .bigint(term.wholeMilliseconds),
                ]
            )
            guard let approval = try policyApproval(on: connection) else {
                throw LedgerError.invariant("the approval of the policy vanished")
            }
            return approval
        }
    }

    /// Withdraws the approval of the job's policy and the approvals of all of its batches, and cancels their rows that were not sent.
    ///
    /// A request that is under way is not called back.
    ///
    /// - Throws: ``ActionRefusal/nothingApproved(job:)``, ``ActionRefusal/policyWithdrawn(hash:by:at:)`` if the policy's approval is
    ///   withdrawn already and no batch has rows left, ``Postgres/PostgresError``.
    package func withdraw() async throws -> Withdrawal {
        try await ledger.transaction { connection in
            try lockApprovals(on: connection)
            let approval = try policyApproval(on: connection)
            let batches = try endApprovals(.withdrawn, on: connection)
            guard let approval, approval.withdrawnAt == nil else {
                guard batches > 0 else {
                    throw approval.map(ActionRefusal.withdrawn) ?? ActionRefusal.nothingApproved(job: job.name)
                }
                return Withdrawal(policy: nil, batches: batches)
            }
            _ = try connection.run(
                """
                UPDATE action_policy_approvals SET withdrawn_at = clock_timestamp()
                 WHERE app_id = $1 AND approval_id = $2 AND withdrawn_at IS NULL
                """,
                [.integer(app.rawValue), .bigint(approval.id)]
            )
            return Withdrawal(policy: try policyApproval(on: connection), batches: batches)
        }
    }

    /// The newest approval of the job's policy; `nil` without one.
    package func policyApproval() async throws -> PolicyApproval? {
        try await ledger.transaction { connection in try policyApproval(on: connection) }
    }

    func policyApproval(on connection: borrowing PostgresConnection) throws -> PolicyApproval? {
        try connection.run(.policyApproval, ["app": .integer(app.rawValue), "job": .text(job.name)])
            .map(PolicyApproval.init).first
    }

    /// The approval by which requests can be answered now.
    ///
    /// - Throws: ``ActionRefusal`` that says why there is none.
    package func policyInForce() async throws -> PolicyApproval {
        try await ledger.transaction { connection in try policyInForce(on: connection) }
    }

    func policyInForce(on connection: borrowing PostgresConnection) throws -> PolicyApproval {
        guard let found = job.policySHA256 else { throw ActionRefusal.noPolicy(job: job.name) }
        guard let approval = try policyApproval(on: connection), approval.namesRules else {
            throw ActionRefusal.policyNotApproved(hash: found)
        }
        if approval.withdrawnAt != nil { throw ActionRefusal.withdrawn(approval) }
        guard approval.sha256 == found else {
            throw ActionRefusal.policyChanged(approved: approval.sha256, found: found)
        }
        if approval.isExpired { throw ActionRefusal.policyExpired(hash: found, at: approval.expiresAt.iso8601) }
        guard approval.rowsLeft > 0 else {
            throw ActionRefusal.policyUsedUp(hash: found, rows: approval.maximumRows)
        }
        return approval
    }
}

extension ActionRefusal {
    fileprivate static func withdrawn(_ approval: PolicyApproval) -> ActionRefusal {
        .policyWithdrawn(
            hash: approval.sha256,
            by: approval.withdrawnBy ?? "another session",
            at: approval.withdrawnAt?.iso8601 ?? ""
        )
    }
}
