import Actions
import Basics

/// What commands show of the approval of a policy.
struct PolicyApprovalText {
    private let approval: PolicyApproval
    private let job: String

    init(_ approval: PolicyApproval, job: String) {
        self.approval = approval
        self.job = job
    }

    var line: String {
        "\(job): policy \(approval.sha256) approved by \(approval.approvedBy) for \(counted(approval.maximumRows, "row")), "
            + "\(approval.approvedRows) of them in batches; \(state)"
    }

    private var state: String {
        if let at = approval.withdrawnAt, let by = approval.withdrawnBy { return "withdrawn by \(by) at \(at.iso8601)" }
        return "\(approval.isExpired ? "expired" : "expires") at \(approval.expiresAt.iso8601)"
    }
}
