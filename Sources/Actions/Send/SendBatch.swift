import ActionKinds
package import AppStoreModel
package import Basics
import Crawl
import JobFiles
import Ledger
import LedgerSchema
import Postgres
package import RateLimit

extension ActionLedger {
    /// The longest time to release leases, so that a process stops in less than ten seconds.
    private static let shutdownTimeout = Duration.seconds(5)
    /// How long a process that is stopped waits for the answers to requests in progress.
    ///
    /// Without the answer, the outcome of the row is unknown, and the next run has to find it out.
    private static let answerTimeout = Duration.seconds(3)
    /// How often the ended rows of all processes are counted.
    private static let countInterval = Duration.seconds(30)

    /// The batches that a run sends: those whose approval is in force with rows that have no outcome, the oldest first.
    ///
    /// A batch whose approval has expired or ended is among them if rows of it can have been sent and have no known outcome. The newest
    /// one that may be sent is among them even if its approval has expired.
    ///
    /// - Returns: Empty if no batch has rows left, and the newest one either may be sent or has no row to send.
    /// - Throws: ``ActionRefusal`` if the job has no batch, if a batch to send is of another action, if the newest batch waits for its
    ///   approval and no other can be sent, and if the approval of the newest one has ended and nothing else can be sent.
    package func batchesToSend() async throws -> [ActionBatch] {
        let all = try await batches()
        guard let newest = all.first else { throw ActionRefusal.noBatch(job: job.name) }
        let waiting = newest.mayBeSent || newest.rowsToSend == 0 ? nil : newest
        guard let last = all.first(where: \.mayBeSent) else {
            guard let waiting else { return [] }
            throw ActionRefusal.notApproved(hash: waiting.sha256, rows: waiting.rowsToSend)
        }
        var chosen: [ActionBatch] = []
        for batch in all.reversed() where batch.mayBeSent {
            let states = try await states(of: batch, open: true)
            let mayBegin =
                batch.approvalEnd == nil && !isOfOtherPolicy(batch) && (!batch.isExpired || batch.id == last.id)
            let open: [RowState] = [.sending, .unknown, .confirming] + (mayBegin ? [.planned, .approved] : [])
            let isOpen = open.contains { states[$0.rawValue, default: 0] > 0 }
            // The last process can have been killed between the last outcome and the end of the batch.
            let isUnfinished = batch.startedAt != nil && batch.finishedAt == nil && mayBegin
            if isOpen || isUnfinished { chosen.append(batch) }
        }
        if let other = chosen.first(where: { $0.action != job.action.name }) {
            throw ActionRefusal.otherAction(hash: other.sha256, found: other.action.rawValue, job: job.name)
        }
        guard chosen.isEmpty else { return chosen }
        if let waiting { throw ActionRefusal.notApproved(hash: waiting.sha256, rows: waiting.rowsToSend) }
        if let end = last.approvalEnd, try await states(of: last)[RowState.cancelled.rawValue, default: 0] > 0 {
            throw ActionRefusal.approvalEnded(hash: last.sha256, end)
        }
        if isOfOtherPolicy(last), last.finishedAt == nil {
            throw ActionRefusal.policyChanged(approved: last.policySHA256 ?? "none", found: job.policySHA256 ?? "none")
        }
        return chosen
    }

    /// Whether the rows have the values of a policy that the job file no longer has.
    private func isOfOtherPolicy(_ batch: ActionBatch) -> Bool {
        batch.policySHA256 != nil && batch.policySHA256 != job.policySHA256
    }

    /// Sends a batch, or what is left of it.
    ///
    /// After a cancellation, it waits a few seconds for the answers to requests in progress, and releases all other rows.
    ///
    /// - Parameters:
    ///   - batch: One of ``batchesToSend()``.
    ///   - limiters: For the action and for the endpoint that reads its effect back.
    ///   - window: The limiter's window. Against the simulator it can be shorter, and all other times shrink with it.
    ///   - policy: Reads ``JobFiles/ActionJob/policySHA256`` from the job file again.
    /// - Throws: ``ActionStop``, ``ActionRefusal/tooManyRows(rows:maximum:)``, ``ActionRefusal/changed(hash:found:)``,
    ///   ``ActionRefusal/changedRow(hash:position:)``, ``ActionRefusal/policyChanged(approved:found:)``;
    ///   ``ActionRefusal/expired(hash:at:)`` and ``ActionRefusal/approvalEnded(hash:_:)`` if rows are left that may not be sent any more;
    ///   `CancellationError`, errors of the ledger and of `policy`.
    package func send(
        _ batch: ActionBatch,
        to server: AppleServer,
        limiters: [StreamName: RateLimiter],
        window: RateWindow,
        time: Timekeeper,
        policy: @escaping @Sendable () throws -> String?,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws {
        try refuseTooMany(batch)
        switch try await compare(batch) {
        case .complete: break
        case .withoutErased:
            report(
                .remark(
                    "batch \(batch.sha256) has rows of erased customers; its other rows match the plan"
                )
            )
        }
        let queue = RowQueue(self, batch)
        let before = BatchCounts(try await states(of: batch))
        report(.began(rows: batch.rowsToSend, done: before.ended))
        let rejections = try await rejections(of: batch, before)
        try await queue.open()
        let sender = BatchSender(
            queue: queue,
            server: server,
            limiters: limiters,
            rejections: rejections,
            settleTime: window.flightTime * 2,
            keyPatience: KeyPatience(window: window),
            time: time,
            policy: policy,
            report: report
        )
        let counting = Task {
            while true {
                try await time.sleep(Self.countInterval)
                report(.counted(done: BatchCounts(try await states(of: batch)).ended))
            }
        }
        defer { counting.cancel() }
        do {
            try await send(with: sender, time: time)
        } catch {
            if case .policyChanged? = error as? ActionRefusal {
                try await endApprovals(ofOtherPoliciesThan: try policy())
            }
            // In a separate task, so that a cancellation does not interrupt it. Leases that are not released expire.
            await Task {
                try? await withTimeLimit(Self.shutdownTimeout, time: time) { try await queue.release() }
            }.value
            throw error
        }
        try await queue.finish()
        try await refuseRest(of: batch)
    }

    /// Throws the refusal that says why rows of the batch that were not sent stay so.
    private func refuseRest(of batch: ActionBatch) async throws {
        let all = try await batches()
        guard let now = all.first(where: { $0.id == batch.id }) else { return }
        // An approval that had ended before says nothing of a newer one.
        if let end = now.approvalEnd, batch.approvalEnd == nil || all.first(where: \.mayBeSent)?.id == now.id {
            throw ActionRefusal.approvalEnded(hash: batch.sha256, end)
        }
        guard now.approvalEnd == nil, now.isExpired, let expiresAt = now.expiresAt else { return }
        guard try await states(of: batch)[RowState.approved.rawValue, default: 0] > 0 else { return }
        throw ActionRefusal.expired(hash: batch.sha256, at: expiresAt.iso8601)
    }

    /// The watch that applies `stopAfter`, starting with the outcomes of earlier processes.
    ///
    /// Usually these are the outcomes of the batch's own rows. Batches that follow from the approval of a policy can have one row
    /// each, so for them the outcomes of all batches of the same approval count.
    private func rejections(of batch: ActionBatch, _ before: BatchCounts) async throws -> RejectionWatch {
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

    /// Sends rows until none is left; after a cancellation, waits for the answers to requests in progress.
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
}

/// Runs `body`, and cancels it after `limit`.
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
private struct BatchCounts {
    private let states: [String: Int64]

    init(_ states: [String: Int64]) { self.states = states }

    var rejected: Int { count(.rejected) }
    /// Those with a known outcome.
    var known: Int { count(.succeeded, .rejected, .notApplied) }
    /// Those that need no further request.
    var ended: Int64 { Int64(known + count(.cancelled)) }

    private func count(_ wanted: RowState...) -> Int { wanted.reduce(0) { $0 + Int(states[$1.rawValue, default: 0]) } }
}
