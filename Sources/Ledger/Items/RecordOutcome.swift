package import AppStoreModel
import Basics
import JobFiles
import LedgerSchema
import Postgres
package import Streams

extension Ledger {
    /// Records the outcome of an item whose page could not be fetched, and releases its lease.
    ///
    /// - Parameters:
    ///   - item: As it was leased or last committed.
    ///   - requests: Requests sent since then.
    ///   - plan: The plan of the run. It determines whether a shortened window leaves a gap.
    ///   - now: The database's clock.
    /// - Returns: Whether this process still had the item's lease. If not, nothing is changed.
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
                change.statement,
                [
                    "app": .integer(holder.app.rawValue),
                    "job": .text(holder.job),
                    "stream": .text(item.stream.rawValue),
                    "item_key": .text(item.key),
                    "epoch": .bigint(item.epoch),
                    "owner": .uuid(holder.owner),
                    "code": change.code.map(Cell.bigint) ?? .null,
                    "message": .text(change.message),
                    "requests": .integer(Int32(requests)),
                    "detail": .text(change.detail),
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
    let statement: SQLStatement
    /// `:detail` of the statement.
    var detail = ""
    var code: Int64?
    let message: String
    /// The time that Apple no longer serves and the ledger lacks.
    var gap: Range<UnixMilliseconds>?
}

extension RunPlan {
    fileprivate func change(by outcome: ItemOutcome, of item: WorkItem, now: UnixMilliseconds) -> ItemChange {
        switch outcome {
        case .failed(let code, let message):
            return ItemChange(statement: .itemFailed, code: code, message: message)
        case .deferred(let delay, let code, let message):
            return ItemChange(
                statement: .itemDeferred,
                detail: String(delay.wholeMilliseconds),
                code: code,
                message: message
            )
        case .restarted(let code, let message):
            return ItemChange(
                statement: .itemRestarted,
                code: code,
                message: message
            )
        case .shortened(let code, let message):
            let oldest = (item.otherEnvironment ?? job.app.environment).oldestNotification(at: now)
            guard let window = item.window, window.upperBound > oldest else {
                return ItemChange(statement: .itemFailed, code: code, message: message)
            }
            // Only a first reading leaves a gap: other windows have been read before. A job that requests everything
            // that Apple has leaves none.
            let leavesGap = item.reading == .first && !startsAtOldestServedDate(item) && window.lowerBound < oldest
            return ItemChange(
                statement: .itemShortened,
                detail: String(oldest.rawValue),
                code: code,
                message: message,
                gap: leavesGap ? window.lowerBound..<oldest : nil
            )
        case .moved(let environment):
            return ItemChange(
                statement: .itemMoved,
                detail: environment.rawValue,
                message: "not known to \(job.app.environment.rawValue), tried in \(environment.rawValue)"
            )
        }
    }
}
