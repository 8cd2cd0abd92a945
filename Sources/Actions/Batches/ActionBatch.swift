package import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// A batch as it is in the ledger.
package struct ActionBatch: Equatable, Sendable {
    /// Sixteen bytes.
    package let id: [UInt8]
    package let action: StreamName
    /// The hash that an approval names: SHA-256 of the app, the job, the action, and all that is sent or decides the outcome of a row, in
    /// hexadecimal.
    package let sha256: String
    /// ``BatchDigest`` of the input; `nil` if an earlier version planned the batch.
    ///
    /// Then ``sha256`` is that hash.
    let parametersSHA256: String?
    /// SHA-256 of the salted hashes of all rows, in hexadecimal; `nil` if an earlier version planned a batch that has ended.
    ///
    /// It can still be compared after an erasure has cleared rows.
    let saltedSHA256: String?
    /// The path of the input file; `nil` for other inputs.
    package let inputName: String?
    package let inputSHA256: String?
    package let inputColumns: [String]
    package let rows: Int64
    package let rowsToSend: Int64
    package let rowsInvalid: Int64
    package let rowsIneligible: Int64
    package let rowsDuplicate: Int64
    package let rowsSame: Int64
    package let plannedAt: UnixMilliseconds
    package let plannedBy: String
    package let requiresApproval: Bool
    package let approvedAt: UnixMilliseconds?
    package let approvedBy: String?
    package let expiresAt: UnixMilliseconds?
    /// The policy that gave the rows their values, ``JobFiles/ActionJob/policySHA256``; `nil` without one.
    package let policySHA256: String?
    /// The approval of the policy from which the batch's own approval follows, ``PolicyApproval/id``; `nil` without one.
    package let policyApproval: Int64?
    /// Whether the approval has expired, by the database's clock.
    package let isExpired: Bool
    /// Why and when the approval ended before it expired; `nil` while it has not.
    package let approvalEnd: ApprovalEnd?
    package let startedAt: UnixMilliseconds?
    package let finishedAt: UnixMilliseconds?

    /// The end of a batch's approval, with which its unsent rows were cancelled.
    package struct ApprovalEnd: Equatable, Sendable {
        package enum Cause: String, Sendable {
            case withdrawn, superseded, expired, removed
            case policyChanged = "policy changed"
        }
        package let cause: Cause
        package let at: UnixMilliseconds
        /// A database role.
        package let by: String
    }

    init(_ row: PostgresRow) throws {
        func moment(_ column: String) throws -> UnixMilliseconds? {
            try row.timestampOrNil(column).map(UnixMilliseconds.init(rawValue:))
        }
        id = try row.uuid("batch_id")
        action = StreamName(try row.text("action"))
        sha256 = try row.text("rows_sha256")
        parametersSHA256 = try row.textOrNil("parameters_sha256")
        saltedSHA256 = try row.textOrNil("salted_sha256")
        inputName = try row.textOrNil("input_name")
        inputSHA256 = try row.textOrNil("input_sha256")
        inputColumns = try row.textArray("input_columns")
        rows = try row.int64("row_count")
        rowsToSend = try row.int64("rows_to_send")
        rowsInvalid = try row.int64("rows_invalid")
        rowsIneligible = try row.int64("rows_ineligible")
        rowsDuplicate = try row.int64("rows_duplicate")
        rowsSame = try row.int64("rows_same")
        plannedAt = UnixMilliseconds(rawValue: try row.timestamp("planned_at"))
        plannedBy = try row.text("planned_by")
        requiresApproval = try row.bool("approval_required")
        approvedAt = try moment("approved_at")
        approvedBy = try row.textOrNil("approved_by")
        expiresAt = try moment("approval_expires_at")
        policySHA256 = try row.textOrNil("policy_sha256")
        policyApproval = try row.int64OrNil("policy_approval_id")
        isExpired = try row.boolOrNil("is_expired") ?? false
        approvalEnd = try row.textOrNil("approval_ended_because").map { because in
            guard let cause = ApprovalEnd.Cause(rawValue: because) else {
                throw LedgerError.invariant("approval_ended_because is \(because)")
            }
            return ApprovalEnd(
                cause: cause,
                at: UnixMilliseconds(rawValue: try row.timestamp("approval_ended_at")),
                by: try row.text("approval_ended_by")
            )
        }
        startedAt = try moment("started_at")
        finishedAt = try moment("finished_at")
    }

    /// Whether the batch was approved or needs no approval; still `true` after the approval has expired or ended.
    package var mayBeSent: Bool { approvedAt != nil || !requiresApproval }
}

extension ActionLedger {
    /// The batches of the job, the newest first.
    package func batches() async throws -> [ActionBatch] {
        try await ledger.transaction { connection in try batches(on: connection) }
    }

    /// The batches of the job, the newest first.
    ///
    /// With `recentAndOpen`, only batches of the last day with rows to send or with an unknown outcome.
    func batches(on connection: borrowing PostgresConnection, recentAndOpen isRecent: Bool = false) throws
        -> [ActionBatch]
    {
        try connection.run(
            .findBatches,
            ["app": .integer(app.rawValue), "job": .text(job.name), "recent_and_open": .boolean(isRecent)]
        ).map(ActionBatch.init)
    }

    /// The rows of a batch by state; with `open` without those that an erasure has cleared.
    package func states(of batch: ActionBatch, open isOpen: Bool = false) async throws -> [String: Int64] {
        try await ledger.transaction { connection in
            let rows = try connection.run(
                .countStates,
                ["app": .integer(app.rawValue), "batch": .uuid(batch.id), "open": .boolean(isOpen)]
            )
            var counts: [String: Int64] = [:]
            for row in rows { counts[try row.text("state")] = try row.int64("rows") }
            return counts
        }
    }
}

extension PostgresRow {
    /// The sixteen bytes of a `uuid`.
    func uuid(_ column: String) throws -> [UInt8] {
        guard let bytes = UUIDText.bytes(of: try text(column)) else {
            throw LedgerError.invariant("\(column) is not a UUID")
        }
        return bytes
    }
}
