package import ActionKinds
package import Basics
package import CSVFormat

/// Why the input of a batch is unusable; nothing was planned.
package enum ActionInputError: ExplainedError, Sendable {
    case unreadable(CSVError)
    case missingColumn(input: String, column: String, found: [String])
    /// A column that looks like a known one with a typing error.
    case unknownColumn(input: String, column: String, nearest: String)
    /// Neither the input nor the job file has a value that every row needs.
    case noValue(input: String, column: String, key: String)
    case noRows(input: String)
    /// PostgreSQL refuses a query of the job file.
    case query(name: String, message: String)
    /// A query of the job file called `refuse_input`, so nothing may be planned now.
    case refused(name: String, reason: String)
    /// A cell of a file of consents is no ID of the column's kind.
    case badConsent(input: String, line: Int, column: CustomerIDColumn, found: String)
    /// The query of consents must return one column that identifies customers, and returns others.
    case consentColumn(found: [String])

    package var isMissingInput: Bool {
        if case .unreadable(let error) = self { return error.isMissingInput }
        return false
    }

    package var sentence: String {
        switch self {
        case .unreadable(let error):
            "\(error.description) Nothing was planned"
        case .missingColumn(let input, let column, let found):
            "\(input): there is no column \"\(column)\"; the header has \(Self.list(found)). Nothing was planned"
        case .unknownColumn(let input, let column, let nearest):
            "\(input): the column \"\(printable(column, limit: 60))\" does not belong to this action; did you mean \"\(nearest)\"? Nothing was planned"
        case .noValue(let input, let column, let key):
            "\(input): there is no column \"\(column)\", and the job file has no action.\(key); add one of the two. Nothing was planned"
        case .noRows(let input):
            "\(input): there are no rows. Nothing was planned"
        case .query(let name, let message):
            "PostgreSQL does not accept \(name): \(message). Nothing was planned"
        case .refused(let name, let reason):
            "\(name): \(reason). Nothing was planned"
        case .badConsent(let input, let line, let column, let found):
            "\(input):\(line): \"\(printable(found.prefix(60)))\" is not \(column == .appAccountToken ? "a UUID" : "an ID of one to twenty digits") (\(column.rawValue)). Nothing was planned"
        case .consentColumn(let found):
            "customerConsented.query must have one column, named \(CustomerIDColumn.list); it has \(Self.list(found)). Nothing was planned"
        }
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(10).map { printable($0, limit: 60, quoted: true) }
        return shown.joined(separator: ", ") + (names.count > 10 ? " and \(names.count - 10) more" : "")
    }

    package var status: ExitStatus { isMissingInput ? .missingInput : .badInput }
}

/// Why a batch cannot be approved, sent or shown.
package enum ActionRefusal: ExplainedError, Equatable, Sendable {
    /// No command has planned a batch of the job.
    case noBatch(job: String)
    case unknownHash(found: String, job: String)
    case wrongCount(found: Int64, planned: Int64)
    case tooManyRows(rows: Int64, maximum: Int64)
    case nothingToSend(hash: String)
    case alreadyApproved(hash: String, by: String, at: String)
    case notRequired(hash: String)
    case notApproved(hash: String, rows: Int64)
    case expired(hash: String, at: String)
    /// The approval of the batch ended before all of its rows were sent.
    case approvalEnded(hash: String, ActionBatch.ApprovalEnd)
    /// Another batch has sent rows of the batch, or has the answers to its requests, since it was planned.
    case overtaken(hash: String)
    /// The rows in the ledger are not those that the plan showed.
    case changed(hash: String, found: String)
    /// A row, or its position, verdict or token, differs from the plan; `position` is `nil` if rows were added or removed.
    case changedRow(hash: String, position: Int64?)
    case appUnknown(bundleId: String, environment: String)
    case nothingToRetry(job: String)
    /// Every refund request has an answer, a decision, or is older than twelve hours.
    case noOpenRequest(job: String)
    case noPolicy(job: String)
    /// Neither the policy nor a batch with rows left is approved.
    case nothingApproved(job: String)
    /// The hash to approve is not the hash of the job file's policy.
    case otherPolicy(named: String, found: String)
    case policyNotApproved(hash: String)
    /// The policy of the job file is not the one that was approved.
    case policyChanged(approved: String, found: String)
    case policyExpired(hash: String, at: String)
    case policyWithdrawn(hash: String, by: String, at: String)
    case policyUsedUp(hash: String, rows: Int64)
    /// The database found that the rows are not those that the approved policy gives.
    case notOfPolicy(hash: String)
    /// The session's role may not plan and send.
    case noRight(role: String)
    /// The session's role may not plan a batch that needs no approval.
    case mustBeApproved(role: String)
    /// Another process planned the same batch at the same moment.
    case plannedAtOnce
    case otherAction(hash: String, found: String, job: String)
    /// A file that a row sends is not the file that was planned; `found` is `nil` if it cannot be read.
    case changedFile(path: String, planned: String, found: String?)

    package var sentence: String {
        switch self {
        case .noBatch(let job):
            "\(job) has no planned batch; run: storeledger actions plan JOB"
        case .unknownHash(let found, let job):
            "\(job) has no batch \(found); storeledger actions status JOB lists the hashes of its batches"
        case .wrongCount(let found, let planned):
            "--rows is \(found), but \(planned) rows of the batch would be sent; nothing was approved. Read the plan again: storeledger actions status JOB"
        case .tooManyRows(let rows, let maximum):
            "the batch would send \(rows) rows, more than approval.maximumRows (\(maximum)); split the input, or raise the limit in the job file"
        case .nothingToSend(let hash):
            "no row of batch \(hash) would be sent, so there is nothing to approve"
        case .alreadyApproved(let hash, let by, let at):
            "batch \(hash) was already approved by \(by) at \(at); nothing was changed"
        case .notRequired(let hash):
            "batch \(hash) was planned with approval.required: false and needs no approval; run: storeledger actions run JOB"
        case .notApproved(let hash, let rows):
            "batch \(hash) is not approved; nothing was sent. Approve it: storeledger actions approve JOB --batch \(hash) --rows \(rows)"
        case .expired(let hash, let at):
            "the approval of batch \(hash) expired at \(at), so its remaining rows are not sent. Plan them again: storeledger actions plan JOB"
        case .approvalEnded(let hash, let end):
            "the approval of batch \(hash) \(end.sentence), so its remaining rows are not sent"
        case .overtaken(let hash):
            "another batch has sent rows of batch \(hash), or has the answers to its requests, since it was planned; nothing was approved. Plan the rows again: storeledger actions plan JOB"
        case .changed(let hash, let found):
            "the rows of batch \(hash) were changed after the plan: their SHA-256 is now \(found). No row of the batch was sent. Find out who changed them, and plan them again: storeledger actions plan JOB"
        case .changedRow(let hash, let position):
            "\(position.map { "row \($0)" } ?? "the number of rows") of batch \(hash) was changed after the plan. No row of the batch was sent. Find out who changed it, and plan the rows again: storeledger actions plan JOB"
        case .appUnknown(let bundleId, let environment):
            "the ledger has no records of \(bundleId) (\(environment)); run a crawl of the app first"
        case .nothingToRetry(let job):
            "\(job) has no rejected rows in its last batch, so there is nothing to retry"
        case .noOpenRequest(let job):
            "every refund request has an answer or a decision, or is older than twelve hours, so \(job) has nothing to plan"
        case .noPolicy(let job):
            "\(job) has no policy; only sendConsumptionInformation takes one (action.sendConsumptionInformation.policy)"
        case .nothingApproved(let job):
            "\(job) has no approved policy and no approved batch with rows left, so there is nothing to withdraw"
        case .otherPolicy(let named, let found):
            "the SHA-256 of the job file's policy is \(found), not \(named); nothing was approved. Read what it would have answered: storeledger actions rehearse JOB"
        case .policyNotApproved(let hash):
            "the policy is not approved, so no request is answered. Approve it: \(Self.approval(of: hash))"
        case .policyChanged(let approved, let found):
            "the policy was changed after its approval: its SHA-256 is now \(found), and \(approved) was approved. No request is answered by it. Rehearse it, and approve it: \(Self.approval(of: found))"
        case .policyExpired(let hash, let at):
            "the approval of the policy expired at \(at), so no further request is answered. Approve it again: \(Self.approval(of: hash))"
        case .policyWithdrawn(let hash, let by, let at):
            "the approval of policy \(hash) was withdrawn by \(by) at \(at), so no further request is answered"
        case .policyUsedUp(let hash, let rows):
            "all \(rows) rows of the policy's approval are used, so no further request is answered. Approve the policy again: \(Self.approval(of: hash))"
        case .notOfPolicy(let hash):
            "the planned answers are not those that the approved policy \(hash) gives for the open requests; nothing was sent. Run again; if it happens again, update storeledger and the schema together: storeledger migrate JOB"
        case .noRight(let role):
            "PostgreSQL's role \(role) has no right to plan and send actions; use the role of the actor (storeledger_actor)"
        case .mustBeApproved(let role):
            "PostgreSQL's role \(role) cannot plan a batch that needs no approval; set approval.required to true, or use the owner's role"
        case .plannedAtOnce:
            "another process planned the same batch at the same moment; run again"
        case .otherAction(let hash, let found, let job):
            "batch \(hash) of \(job) contains \(found) requests, but the job file now has another action; give the new job another name"
        case .changedFile(let path, let planned, let found):
            "\(path) was changed after the plan: its SHA-256 is \(found ?? "unknown, because it cannot be read"), and \(planned) was planned. It was not sent. Restore the file, or plan again: storeledger actions plan JOB"
        }
    }

    private static func approval(of policy: String) -> String {
        "storeledger actions approve JOB --policy \(policy) --rows N --expires 30d"
    }

    package var status: ExitStatus {
        switch self {
        case .noBatch, .notApproved, .expired, .approvalEnded, .changed, .changedRow, .appUnknown, .otherAction,
            .tooManyRows,
            .noPolicy,
            .policyNotApproved, .policyChanged, .policyExpired, .policyWithdrawn, .policyUsedUp:
            .configuration
        case .unknownHash, .wrongCount, .nothingToSend, .alreadyApproved, .notRequired, .otherPolicy, .nothingApproved,
            .overtaken, .changedFile:
            .badInput
        case .nothingToRetry, .noOpenRequest: .complete
        case .noRight, .mustBeApproved: .refused
        case .plannedAtOnce, .notOfPolicy: .workLeft
        }
    }
}

extension ActionBatch.ApprovalEnd {
    /// What ended the approval, and when, as the predicate of a sentence.
    package var sentence: String {
        switch cause {
        case .withdrawn: "was withdrawn by \(by) at \(at.iso8601)"
        case .superseded: "ended at \(at.iso8601) with a newer approval of the job"
        case .policyChanged: "ended at \(at.iso8601), because the policy was changed"
        case .expired: "ended at \(at.iso8601), because it had expired"
        case .removed: "ended at \(at.iso8601), because the job was removed"
        }
    }
}
