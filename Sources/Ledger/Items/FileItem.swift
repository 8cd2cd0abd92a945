package import AppStoreModel
package import JobPlan
import LedgerTables
import Postgres
import Workers

/// How an item stands that gave no page.
package enum ItemStanding: Equatable, Sendable {
    /// Over for this run; the cursor is kept.
    case failed
    /// Any worker may take it after the delay; the cursor is kept.
    case putOff(Duration)
    /// Begins again at its first page.
    case restarted
    /// Begins again, at `newStart`: Apple no longer serves what is older, and the gap is recorded.
    case clamped(newStart: UnixMilliseconds, leavesGap: Bool)
    /// Begins again in another environment of Apple's.
    case moved(AppStoreEnvironment)
}

extension Ledger {
    /// Files how an item stands and gives its lease back.
    ///
    /// - Returns: Whether this process still held it; when not, nothing was changed.
    @discardableResult
    package func file(
        _ standing: ItemStanding,
        of item: WorkItem,
        errorCode: Int64?,
        message: String,
        requests: Int,
        for holder: LeaseHolder
    ) async throws -> Bool {
        let change = standing.change
        return try await transaction(on: .control) { connection in
            let filed = try connection.run(
                """
                UPDATE crawl_items SET \(change.assignments), lease_owner = NULL, error_code = $6, error_message = $7,
                       request_count = request_count + $8::integer
                 WHERE app_id = $1 AND job = $2 AND stream = $3 AND item_key = $4
                   AND lease_epoch = $5 AND state = 'leased' AND lease_owner = $9 AND $10::text IS NOT NULL
                """,
                holder.key(of: item) + [
                    .bigint(item.epoch), errorCode.map(Cell.bigint) ?? .null, .text(message),
                    .integer(Int32(requests)), .uuid(holder.owner), change.parameter,
                ]
            )
            guard filed.affected == 1 else { return false }
            crashPoint(.standingFiled)
            if case .clamped(let newStart, leavesGap: true) = standing, let window = item.window,
                window.lowerBound < newStart
            {
                _ = try connection.run(
                    """
                    INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                    ON CONFLICT (app_id, job, stream, item_key, gap_start)
                    DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
                    """,
                    holder.key(of: item) + [
                        .timestamp(window.lowerBound.rawValue), .timestamp(newStart.rawValue), .text(message),
                        .bigint(holder.run),
                    ]
                )
            }
            return true
        }
    }
}

extension ItemStanding {
    /// The part of the statement that differs.
    ///
    /// The text is one of these five; `$10` carries what varies.
    fileprivate var change: (assignments: String, parameter: Cell) {
        switch self {
        case .failed:
            ("state = 'failed', claimable_at = NULL, finished_at = clock_timestamp()", .text(""))
        case .putOff(let delay):
            (
                """
                state = 'waiting', deferrals = deferrals + 1,
                claimable_at = clock_timestamp() + $10::text::bigint * interval '1 millisecond'
                """,
                .text(String(delay.wholeMilliseconds))
            )
        case .restarted:
            ("state = 'waiting', claimable_at = clock_timestamp(), cursor = NULL, restarts = restarts + 1", .text(""))
        case .clamped(let newStart, _):
            (
                """
                state = 'waiting', claimable_at = clock_timestamp(), cursor = NULL, restarts = restarts + 1,
                window_start = timestamptz 'epoch' + $10::text::bigint * interval '1 millisecond'
                """,
                .text(String(newStart.rawValue))
            )
        case .moved(let environment):
            (
                "state = 'waiting', claimable_at = clock_timestamp(), cursor = NULL, other_environment = $10::text",
                .text(environment.rawValue)
            )
        }
    }
}
