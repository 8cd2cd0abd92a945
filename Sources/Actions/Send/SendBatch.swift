package import AppStoreModel
package import Basics
import Crawl
import JobPlan
import Ledger
import LedgerSchema
import Postgres
package import RateLimit

extension ActionLedger {
    /// The longest time to release leases, so that a process stops in less than ten seconds.
    private static let shutdownTimeout = Duration.seconds(5)
    /// How long a process that is stopped waits for the answers to requests in progress.
    ///
    /// A request without an answer leaves its row unknown, so it is worth waiting for.
    private static let answerTimeout = Duration.seconds(3)
    /// How often the rows that other processes have sent are counted.
    private static let countInterval = Duration.seconds(30)

    /// The batches that a run sends: approved ones with rows that have no outcome, the oldest first.
    ///
    /// A batch whose approval has expired is among them if it is the last one that may be sent, or if rows of it were sent and
    /// have no known outcome.
    ///
    /// - Returns: Nothing if every row of the newest batch was sorted out and no earlier one has rows to send.
    /// - Throws: ``ActionRefusal`` without a batch, and if the newest one waits for its approval and no other can be sent.
    package func batchesToSend() async throws -> [ActionBatch] {
        let all = try await batches()
        guard let newest = all.first else { throw ActionRefusal.noBatch(job: job.name) }
        guard let last = all.first(where: \.mayBeSent) else {
            guard newest.rowsToSend > 0 else { return [] }
            throw ActionRefusal.notApproved(hash: newest.sha256, rows: newest.rowsToSend)
        }
        var chosen: [ActionBatch] = []
        for batch in all.reversed() where batch.mayBeSent {
            let states = try await states(of: batch)
            let hasExpired = batch.isExpired && batch.id != last.id
            let open: [RowState] = [.sending, .unknown, .confirming] + (hasExpired ? [] : [.planned, .approved])
            let isOpen = open.contains { states[$0.rawValue, default: 0] > 0 }
            // The last process can have been killed between the last outcome and the end of the batch.
            let isUnfinished = batch.startedAt != nil && batch.finishedAt == nil && !hasExpired
            if isOpen || isUnfinished { chosen.append(batch) }
        }
        if let other = chosen.first(where: { $0.action != job.action.name }) {
            throw ActionRefusal.otherAction(hash: other.sha256, found: other.action.rawValue, job: job.name)
        }
        if chosen.isEmpty, !newest.mayBeSent, newest.rowsToSend > 0 {
            throw ActionRefusal.notApproved(hash: newest.sha256, rows: newest.rowsToSend)
        }
        return chosen
    }

    /// Sends a batch, or what is left of it.
    ///
    /// A process that is cancelled ends the requests in progress, as far as they are answered in time, and releases the rest.
    ///
    /// - Parameters:
    ///   - batch: One of ``batchesToSend()``.
    ///   - server: Apple's server.
    ///   - limiters: Those of the action and of the endpoint that reads its effect back.
    ///   - window: The limiter's window, with which all other times shrink in a rehearsal.
    ///   - time: Clocks and sleep.
    ///   - report: Called for each event.
    /// - Throws: ``ActionStop``, ``ActionRefusal/changed(hash:found:)``, ``ActionRefusal/changedRow(hash:position:)``;
    ///   ``ActionRefusal/expired(hash:at:)`` if rows are left that may not be sent any more; `CancellationError`, errors of the ledger.
    package func send(
        _ batch: ActionBatch,
        to server: AppleServer,
        limiters: [StreamName: RateLimiter],
        window: RateWindow,
        time: Timekeeper,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws {
        try refuseTooMany(batch)
        switch try await compare(batch) {
        case .complete: break
        case .withoutErased:
            report(
                .remark(
                    "batch \(batch.sha256) has rows of erased customers; all its other rows are as they were planned"
                )
            )
        case .impossible:
            report(.remark("batch \(batch.sha256) has rows of erased customers, so its hash can no longer be compared"))
        }
        let queue = RowQueue(self, batch)
        let before = RowCounts(try await states(of: batch))
        report(.began(rows: batch.rowsToSend, done: before.ended))
        let rejections = try await rejections(of: batch, before)
        try await queue.open()
        let sender = BatchSender(
            queue: queue,
            server: server,
            limiters: limiters,
            rejections: rejections,
            settleTime: window.flightTime * 2,
            time: time,
            report: report
        )
        let counting = Task {
            while true {
                try await time.sleep(Self.countInterval)
                report(.counted(done: RowCounts(try await states(of: batch)).ended))
            }
        }
        defer { counting.cancel() }
        do {
            try await send(with: sender, time: time)
        } catch {
            // In a task of its own, so that a cancellation does not interrupt it. Leases that are not released expire.
            await Task {
                try? await withTimeLimit(Self.shutdownTimeout, time: time) { try await queue.release() }
            }.value
            throw error
        }
        try await queue.finish()
        let after = try await states(of: batch)
        if after[RowState.approved.rawValue, default: 0] > 0, let expired = try await expiredBatch(batch) {
            throw ActionRefusal.expired(hash: batch.sha256, at: expired)
        }
    }

    /// What `stopAfter` counts: the rows of the batch, or those of all batches that follow from the same approval of a policy,
    /// which can have a row each.
    private func rejections(of batch: ActionBatch, _ before: RowCounts) async throws -> RejectionWatch {
        guard let approval = batch.policyApproval else {
            return RejectionWatch(rule: job.stopAfter, rejected: before.rejected, ended: before.known)
        }
        let (app, job) = (app, job)
        return try await ledger.transaction { connection in
            let counts = try connection.run(
                .policyOutcomes,
                ["app": .integer(app.rawValue), "job": .text(job.name), "approval": .bigint(approval)]
            )[0]
            return RejectionWatch(
                rule: job.stopAfter,
                rejected: Int(try counts.int64("rejected")),
                ended: Int(try counts.int64("ended")),
                consecutive: Int(try counts.int64("consecutive"))
            )
        }
    }

    /// Sends until every row has an outcome; a cancellation first lets the requests in progress be answered.
    private func send(with sender: BatchSender, time: Timekeeper) async throws {
        let concurrency = job.limits.concurrency
        let sending = Task { try await sender.send(concurrency: concurrency) }
        try await withTaskCancellationHandler {
            try await sending.value
        } onCancel: {
            sender.stop()
            Task {
                try? await time.sleep(Self.answerTimeout)
                sending.cancel()
            }
        }
        try Task.checkCancellation()
    }

    /// When the approval of a batch expired; `nil` if it has not.
    private func expiredBatch(_ batch: ActionBatch) async throws -> String? {
        guard let now = try await batches().first(where: { $0.id == batch.id }), now.isExpired else { return nil }
        return now.expiresAt?.iso8601
    }
}

/// Cancels `body` after a time.
private func withTimeLimit(
    _ limit: Duration,
    time: Timekeeper,
    _ body: @escaping @Sendable () async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask { try await time.sleep(limit) }
        defer { group.cancelAll() }
        try await group.next()
    }
}

/// The rows of a batch, counted by what is known of them.
private struct RowCounts {
    private let states: [String: Int64]

    init(_ states: [String: Int64]) { self.states = states }

    var rejected: Int { count(.rejected) }
    /// Those with a known outcome.
    var known: Int { count(.succeeded, .rejected, .notApplied) }
    /// Those that need no further request.
    var ended: Int64 { Int64(known + count(.cancelled)) }

    private func count(_ wanted: RowState...) -> Int { wanted.reduce(0) { $0 + Int(states[$1.rawValue, default: 0]) } }
}
