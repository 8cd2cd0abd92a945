package import AppStoreModel
package import Basics
import Crawl
import JobPlan
package import RateLimit

extension ActionLedger {
    /// The longest time to release leases, so that a process stops in less than ten seconds.
    private static let shutdownTimeout = Duration.seconds(5)

    /// The batches that a run sends: approved ones with rows that have no outcome, the oldest first.
    ///
    /// A batch whose approval has expired is among them if rows of it were sent and have no known outcome.
    ///
    /// - Throws: ``ActionRefusal`` if there is nothing to send and nothing was sent before.
    package func batchesToSend() async throws -> [ActionBatch] {
        let all = try await batches()
        guard let newest = all.first else { throw ActionRefusal.noBatch(job: job.name) }
        if let other = all.first(where: { $0.mayBeSent && $0.action != job.action.name && $0.finishedAt == nil }) {
            throw ActionRefusal.otherAction(hash: other.sha256, found: other.action.rawValue, job: job.name)
        }
        guard newest.mayBeSent || all.contains(where: \.mayBeSent) else {
            throw ActionRefusal.notApproved(hash: newest.sha256, rows: newest.rowsToSend)
        }
        var chosen: [ActionBatch] = []
        for batch in all.reversed() where batch.mayBeSent {
            let states = try await states(of: batch)
            let open = [RowState.planned, .approved, .sending, .unknown, .confirming].reduce(0) {
                $0 + states[$1.rawValue, default: 0]
            }
            if open > 0 { chosen.append(batch) }
        }
        if chosen.isEmpty, !newest.mayBeSent {
            throw ActionRefusal.notApproved(hash: newest.sha256, rows: newest.rowsToSend)
        }
        return chosen
    }

    /// Sends a batch, or what is left of it.
    ///
    /// - Parameters:
    ///   - batch: One of ``batchesToSend()``.
    ///   - server: Apple's server.
    ///   - limiters: Those of the action and of the endpoint that reads its effect back.
    ///   - window: The limiter's window, with which all other times shrink in a rehearsal.
    ///   - time: Clocks and sleep.
    ///   - report: Called for each event.
    /// - Returns: The rows of the batch by state.
    /// - Throws: ``ActionStop``, ``ActionRefusal/expired(hash:at:)`` if rows are left that may not be sent any more,
    ///   `CancellationError`, errors of the ledger.
    package func send(
        _ batch: ActionBatch,
        to server: AppleServer,
        limiters: [StreamName: RateLimiter],
        window: RateWindow,
        time: Timekeeper,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws -> [String: Int64] {
        try refuseTooMany(batch)
        let queue = RowQueue(self, batch)
        let before = try await states(of: batch)
        func count(_ states: RowState...) -> Int { states.reduce(0) { $0 + Int(before[$1.rawValue, default: 0]) } }
        try await queue.open()
        let sender = BatchSender(
            queue: queue,
            server: server,
            limiters: limiters,
            rejections: RejectionWatch(
                rule: job.stopAfter,
                rejected: count(.rejected),
                ended: count(.succeeded, .rejected, .notApplied)
            ),
            settleTime: window.flightTime * 2,
            time: time,
            report: report
        )
        do {
            try await sender.send(concurrency: job.limits.concurrency)
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
        return after
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
