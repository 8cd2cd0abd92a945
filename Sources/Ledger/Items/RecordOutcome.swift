package import AppStoreModel
import Basics
package import JobPlan
import LedgerSchema
import Postgres

extension Ledger {
    /// Records the outcome of an item whose page could not be fetched, and releases its lease.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - item: As it was leased or last committed.
    ///   - requests: Requests sent since then.
    ///   - holder: This process.
    ///   - plan: The plan of the run. It determines whether a shortened window leaves a gap.
    ///   - now: The database's clock.
    /// - Returns: Whether this process still held the item. If not, nothing is changed.
    /// - Throws: ``Postgres/PostgresError``.
    @discardableResult
    package func record(
        _ outcome: ItemOutcome,
        of item: WorkItem,
        requests: Int,
        for holder: LeaseHolder,
        plan: RunPlan,
        now: UnixMilliseconds
    ) async throws -> Bool {
        let change = plan.change(by: outcome, of: item, now: now)
        return try await control.transaction { connection in
            let recorded = try connection.run(
                """
                UPDATE crawl_items SET \(change.assignments), lease_owner = NULL, error_code = $6, error_message = $7,
                       request_count = request_count + $8::integer
                 WHERE app_id = $1 AND job = $2 AND stream = $3 AND item_key = $4
                   AND lease_epoch = $5 AND state = 'leased' AND lease_owner = $9 AND $10::text IS NOT NULL
                """,
                holder.key(of: item) + [
                    .bigint(item.epoch), change.code.map(Cell.bigint) ?? .null, .text(change.message),
                    .integer(Int32(requests)), .uuid(holder.owner), change.parameter,
                ]
            )
            guard recorded.affected == 1 else { return false }
            crashPoint(.outcomeRecorded)
            if let gap = change.gap {
                _ = try connection.run(
                    .recordGap,
                    [
                        "app": .integer(holder.app.rawValue),
                        "job": .text(holder.job),
                        "stream": .text(item.stream.rawValue),
                        "item_key": .text(item.key),
                        "starts_at": .timestamp(gap.lowerBound.rawValue),
                        "ends_at": .timestamp(gap.upperBound.rawValue),
                        "reason": .text(change.message),
                        "run": .bigint(holder.run),
                    ]
                )
            }
            return true
        }
    }
}

/// The change of an item's row for an outcome.
private struct ItemChange {
    /// SQL assignments; the variable part is parameter 10.
    ///
    /// Not all assignments use it, and PostgreSQL refuses a parameter that a statement does not name. So the statement
    /// also names it in its condition.
    let assignments: String
    var parameter = Cell.text("")
    var code: Int64?
    let message: String
    /// The time that Apple no longer serves and the ledger lacks.
    var gap: Range<UnixMilliseconds>?
}

extension RunPlan {
    fileprivate func change(by outcome: ItemOutcome, of item: WorkItem, now: UnixMilliseconds) -> ItemChange {
        switch outcome {
        case .failed(let code, let message):
            return ItemChange(assignments: Self.fails, code: code, message: message)
        case .deferred(let delay, let code, let message):
            return ItemChange(
                assignments: """
                    state = 'waiting', deferrals = deferrals + 1,
                    claimable_at = clock_timestamp() + $10::text::bigint * interval '1 millisecond'
                    """,
                parameter: .text(String(delay.wholeMilliseconds)),
                code: code,
                message: message
            )
        case .restarted(let code, let message):
            return ItemChange(
                assignments: "\(Self.waits), cursor = NULL, restarts = restarts + 1",
                code: code,
                message: message
            )
        case .shortened(let code, let message):
            let oldest = (item.otherEnvironment ?? job.app.environment).oldestNotification(at: now)
            guard let window = item.window, window.upperBound > oldest else {
                return ItemChange(assignments: Self.fails, code: code, message: message)
            }
            // Only a first reading leaves a gap: other windows have been read before. A job that requests everything
            // that Apple has leaves none.
            let leavesGap = item.reading == .first && !startsAtOldestServedDate(item) && window.lowerBound < oldest
            return ItemChange(
                assignments: """
                    \(Self.waits), cursor = NULL, restarts = restarts + 1,
                    window_start = timestamptz 'epoch' + $10::text::bigint * interval '1 millisecond'
                    """,
                parameter: .text(String(oldest.rawValue)),
                code: code,
                message: message,
                gap: leavesGap ? window.lowerBound..<oldest : nil
            )
        case .moved(let environment):
            return ItemChange(
                assignments: "\(Self.waits), cursor = NULL, other_environment = $10::text",
                parameter: .text(environment.rawValue),
                message: "not known to \(job.app.environment.rawValue), tried in \(environment.rawValue)"
            )
        }
    }

    private static let fails = "state = 'failed', claimable_at = NULL, finished_at = clock_timestamp()"
    private static let waits = "state = 'waiting', claimable_at = clock_timestamp()"
}
