import ActionKinds
import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import Hashing
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import RateLimit
import StrictJSON

/// The order of retention messages: images, messages, Apple's review, defaults, deletions.
///
/// Apple's review takes an unknown time, so a row that waits gives up its lease and is taken again later.
extension BatchSender {
    /// Whether a leased row can be sent now.
    ///
    /// A row that waits is postponed, and one that cannot be sent any more ends with the reason.
    func isReady(_ row: LeasedRow) async throws -> Bool {
        guard action == PublishRetentionMessages.self, !row.mayBeApplied, !row.isLate,
            let kind = PublishRetentionMessages.kind(of: row.parameters)
        else { return true }
        switch try await readiness(of: row, kind) {
        case .ready: return true
        case .waits(let sentence, let inReview):
            try await postpone(row, sentence, for: inReview ? settleTime : min(settleTime, Self.sendingTime))
        case .isLeft(let sentence): try await settle(row, .approved, message: sentence)
        case .fails(let sentence): try await settle(row, .cancelled, message: "not sent: \(sentence)")
        }
        return false
    }

    private func readiness(of row: LeasedRow, _ kind: RetentionRequestKind) async throws -> RowReadiness {
        let subjects = row.parameters.texts("waits_for") ?? []
        let needsApproval = kind != .message
        let rows =
            subjects.isEmpty && kind.kindsBefore.isEmpty ? [] : try await queue.rowsBefore(subjects, kind.kindsBefore)
        let readiness = RowReadiness(after: rows, needsApproval: needsApproval)
        guard readiness == .ready else { return readiness }
        for subject in subjects where !rows.contains(where: { $0.subject == subject }) {
            let list: RetentionList = subject.hasPrefix("image/") ? .images : .messages
            guard let entries = try await entries(of: list, for: row) else {
                return .waits("Apple's list cannot be read", inReview: true)
            }
            let id = String(subject.drop { $0 != "/" }.dropFirst())
            let found = RowReadiness(of: subject, state: entries[id]?.state, needsApproval: needsApproval)
            guard found == .ready else { return found }
        }
        return .ready
    }

    /// Looks up the state of an upload that is in Apple's list.
    ///
    /// - Parameters:
    ///   - result: Apple's list.
    ///   - asked: When it was asked for, on the monotonic clock.
    func beginReview(
        of leased: LeasedRow,
        _ attempt: Int32,
        _ result: SendResult,
        in list: RetentionList,
        asked: Duration
    ) async throws {
        var row = leased
        row.answer = PublishRetentionMessages.accepted
        try await keepOpen(row, attempt, result, kept: row.answer)
        if case .answered(let written) = result, let entries = RetentionCatalog.entries(written.body, of: list) {
            watch.lists.set(entries, of: list, at: asked)
        }
        try await review(row, in: list)
    }

    /// Looks up the state of an accepted upload, and ends the row when Apple has decided.
    func review(_ row: LeasedRow, in list: RetentionList) async throws {
        let id = list.id(in: row.parameters)
        guard let entries = try await entries(of: list, for: row) else {
            return try await postpone(row, "Apple's list cannot be read")
        }
        guard let state = entries[id]?.state else {
            guard watch.lists.miss(id) >= Self.mostMisses else {
                return try await postpone(row, "not in Apple's list yet")
            }
            return try await leaveUnknown(row, "Apple accepted it, and its list does not have it")
        }
        let kept = JSONObject((row.answer?.members ?? []) + [.init(key: "state", value: .string(state))])
        switch state {
        case "APPROVED":
            try await settle(row, .succeeded, kept: kept, confirmedBy: "\(list.endpoint.rawValue): \(state)")
        case "REJECTED":
            let message = "Apple's review rejected it; change it and give it a new identifier"
            try await settle(row, .rejected, kept: kept, message: message)
        default: try await postpone(row, "Apple reviews it (\(state))")
        }
    }

    /// After how many lists without an accepted upload it is left to the next run.
    private static let mostMisses = 5

    /// Apple's list, at most ``settleTime`` old; `nil` if Apple does not answer as documented.
    private func entries(
        of list: RetentionList,
        for row: LeasedRow
    ) async throws -> [String: RetentionCatalog.Entry]? {
        var refusals = 0
        while true {
            let now = time.monotonic()
            if let entries = watch.lists.entries(of: list, since: now - settleTime) { return entries }
            let (attempt, result) = try await attempt(row, .status, list.request, endpoint: list.endpoint)
            try await keepOpen(row, attempt, result)
            guard case .answered(let written) = result else { return nil }
            switch written.answer.status {
            case 200:
                guard let entries = RetentionCatalog.entries(written.body, of: list) else { return nil }
                watch.lists.set(entries, of: list, at: now)
                return entries
            case 429:
                let (retryAfter, date) = (written.answer.retryAfter, written.answer.date)
                let opening = try await limiter(list.endpoint).close(retryAfter: retryAfter, date: date)
                report(.closed(list.endpoint, opening))
            case 401:
                refusals += 1
                switch decision(on: written.answer, refusals: refusals) {
                case .endsRun(let report): throw ActionStop.credentials(report)
                case .leavesRequest: return nil
                case .repeats: try await pause(afterRefusal: refusals, of: list.endpoint, result)
                }
            default: return nil
            }
        }
    }

    /// How long a row waits for another one that is about to be sent.
    private static let sendingTime = Duration.seconds(5)

    /// Gives up the lease of a row that waits; it is available again after `pause`, which is ``settleTime`` without one.
    private func postpone(_ row: LeasedRow, _ sentence: String, for pause: Duration? = nil) async throws {
        let state: RowState = row.mayBeApplied ? .confirming : .approved
        var change = RowChange(result: .init(message: sentence), state: state, mayBeApplied: row.mayBeApplied)
        change.availableAfter = pause ?? settleTime
        try await queue.record(change, of: row, attempt: 0)
        leases.remove(row.lease)
    }

    /// Records the outcome of a row, or leaves it to the next run, without an attempt.
    private func settle(
        _ row: LeasedRow,
        _ state: RowState,
        kept: JSONObject? = nil,
        message: String? = nil,
        confirmedBy: String? = nil
    ) async throws {
        var change = RowChange(result: .init(message: message), state: state, mayBeApplied: false)
        (change.kept, change.confirmedBy) = (kept, confirmedBy)
        (change.isEnd, change.releases) = (state != .approved, true)
        try await queue.record(change, of: row, attempt: 0)
        leases.remove(row.lease)
        try noteEnd(of: row, state)
    }

    /// The request with the bytes of its file.
    ///
    /// - Throws: ``ActionRefusal/changedFile(path:planned:found:)``.
    func withBody(_ request: AppStoreRequest) throws -> AppStoreRequest {
        guard let file = request.file else { return request }
        guard case .folder(let directory) = queue.actions.job.input else { return request }
        let path = RetentionImage.path(of: file.name, in: directory)
        let bytes = try? RetentionImage.bytes(at: path)
        let found = bytes.map { SHA256.digest(of: $0).hexadecimal }
        guard let bytes, found == file.sha256 else {
            throw ActionRefusal.changedFile(path: path, planned: file.sha256, found: found)
        }
        return request.with(body: bytes)
    }
}

extension RowQueue {
    /// The rows of the batch with these subjects or of these kinds.
    func rowsBefore(
        _ subjects: [String],
        _ kinds: [RetentionRequestKind]
    ) async throws -> [RowReadiness.Prerequisite] {
        try await actions.ledger.control.transaction { connection in
            try connection.run(
                .rowsBefore,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "subjects": .textArray(subjects),
                    "kinds": .textArray(kinds.map(\.rawValue)),
                ]
            ).map { row in
                guard let state = RowState(rawValue: try row.text("state")) else {
                    throw LedgerError.invariant("a row has no known state")
                }
                return RowReadiness.Prerequisite(
                    subject: try row.text("subject"),
                    state: state,
                    isAccepted: try row.bool("is_accepted"),
                    reason: try row.text("reason"),
                    hasEnded: try row.bool("has_ended"),
                    isLeft: try row.bool("is_left")
                )
            }
        }
    }
}
