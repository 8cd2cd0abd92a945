import Actions
import AppStoreModel
import Basics

/// What `actions status` and `actions run` show of batches.
struct BatchStatusText {
    private let statuses: [BatchStatus]
    private let job: String
    private let path: String

    init(_ statuses: [BatchStatus], job: String, path: String) {
        self.statuses = statuses
        self.job = job
        self.path = path
    }

    var lines: [String] {
        guard !statuses.isEmpty else {
            return [namingJob(path, in: "\(job) has no batch; storeledger actions plan JOB plans one")]
        }
        return statuses.flatMap(lines)
    }

    private func lines(of status: BatchStatus) -> [String] {
        let batch = status.batch
        var lines = ["\(job): batch \(batch.sha256), \(batch.action.rawValue)"]
        lines.append("  planned at \(batch.plannedAt.iso8601) by \(batch.plannedBy), \(approval(of: batch))")
        lines.append("  \(counted(batch.rows, "row")), \(batch.rowsToSend) to send")
        let counts = RowState.allCases.map { ($0.rawValue, status.count($0)) }.filter { $0.1 > 0 }
        lines.append("  " + counts.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
        lines += status.rejections.map { rejection in
            "  rejected, \(rejection.code.map { "\($0) " } ?? "")\(rejection.message): \(rejection.rows)"
        }
        if status.rowsTooLate > 0 {
            lines.append("  cancelled, not sent before Apple's deadline: \(status.rowsTooLate)")
        }
        if let unknown = status.oldestUnknown, let message = unknown.message {
            lines.append("  unknown, row \(unknown.position): \(message)")
        }
        if status.count(RowState.unknown) > 0 {
            let sentence = "unknown rows may have been applied; storeledger actions run JOB tries to find out"
            lines.append("  \(namingJob(path, in: sentence))")
        }
        return lines
    }

    private func approval(of batch: ActionBatch) -> String {
        let ended = batch.approvalEnd.map { "; the approval \($0.sentence)" } ?? ""
        guard batch.requiresApproval else { return "no approval required\(ended)" }
        guard let at = batch.approvedAt, let by = batch.approvedBy, let until = batch.expiresAt else {
            return batch.rowsToSend == 0 ? "nothing to send" : "not approved"
        }
        let policy = batch.policyApproval == nil ? "" : " (by the approval of the policy)"
        return
            "approved at \(at.iso8601) by \(by)\(policy), \(batch.isExpired ? "expired" : "expires") at \(until.iso8601)\(ended)"
    }
}

extension BatchStatusText {
    /// The form of `--json`; documented in docs/reference/json.md.
    private struct Document: Encodable {
        struct Rejection: Encodable { let code: Int64?, message: String, rows: Int64 }
        struct Unknown: Encodable { let position: Int64, firstSentAt: String, message: String? }
        let job, batch, action, plannedAt, plannedBy: String
        let approvalRequired: Bool
        let approvedAt, approvedBy, approvalExpiresAt, approvalEndedAt, approvalEndedBecause, startedAt,
            finishedAt: String?
        let policy: String?
        let approvedByPolicy: Bool
        let rows, rowsToSend, rowsInvalid, rowsIneligible, rowsDuplicate, rowsSame, rowsTooLate: Int64
        let oldestUnknown: Unknown?
        let states: [String: Int64]
        let rejections: [Rejection]
    }

    /// One JSON document: an array of batches, the newest first.
    func json() throws -> String {
        let documents = statuses.map { status in
            let batch = status.batch
            return Document(
                job: job,
                batch: batch.sha256,
                action: batch.action.rawValue,
                plannedAt: batch.plannedAt.iso8601,
                plannedBy: batch.plannedBy,
                approvalRequired: batch.requiresApproval,
                approvedAt: batch.approvedAt?.iso8601,
                approvedBy: batch.approvedBy,
                approvalExpiresAt: batch.expiresAt?.iso8601,
                approvalEndedAt: batch.approvalEnd?.at.iso8601,
                approvalEndedBecause: batch.approvalEnd?.cause.rawValue,
                startedAt: batch.startedAt?.iso8601,
                finishedAt: batch.finishedAt?.iso8601,
                policy: batch.policySHA256,
                approvedByPolicy: batch.policyApproval != nil,
                rows: batch.rows,
                rowsToSend: batch.rowsToSend,
                rowsInvalid: batch.rowsInvalid,
                rowsIneligible: batch.rowsIneligible,
                rowsDuplicate: batch.rowsDuplicate,
                rowsSame: batch.rowsSame,
                rowsTooLate: status.rowsTooLate,
                oldestUnknown: status.oldestUnknown.map {
                    .init(position: $0.position, firstSentAt: $0.firstSentAt.iso8601, message: $0.message)
                },
                states: status.states,
                rejections: status.rejections.map { .init(code: $0.code, message: $0.message, rows: $0.rows) }
            )
        }
        return try JSONOutput.document(documents)
    }
}
