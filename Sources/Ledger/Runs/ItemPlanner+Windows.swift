import AppStoreModel
import JobPlan
import LedgerTables
import Postgres
import SignedData

extension ItemPlanner {
    /// The whole app's notifications: what earlier windows left undone, then windows from the last one's end to now.
    func planWindows(
        _ notifications: NotificationStream,
        in start: inout RunStart,
        on connection: borrowing PostgresConnection
    ) throws {
        let fingerprint = plan.job.queryFingerprint(for: .notificationHistory)
        let oldest = plan.oldestNotification
        let lastEnd = try connection.run(
            """
            SELECT max(window_end) AS last_end FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory' AND fingerprint = $3
            """,
            [app, job, .text(fingerprint)]
        )[0].timestampOrNil("last_end").map(UnixMilliseconds.init(rawValue:))

        let span = notifications.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
        var asked = span.asked
        // "As far back as Apple goes" cannot be short of anything.
        var gap = notifications.startDate == .lastRun ? nil : span.unreachable
        var isIncomplete = gap != nil
        if let lastEnd {
            let end = asked.upperBound
            gap = lastEnd < min(oldest, end) ? lastEnd..<min(oldest, end) : nil
            // A restart may begin earlier than the last window ended, never later: what lies between was never asked for.
            let begin = max(lastEnd - Self.overlap, oldest)
            asked = min(plan.restart ? min(begin, asked.lowerBound) : begin, end)..<end
            try takeUpUndoneWindows(fingerprint, start.run, on: connection)
            let lost = try recordLostWindows(fingerprint, start.run, on: connection)
            isIncomplete = gap != nil || lost > 0
        }
        if let gap { try recordGap(gap, run: start.run, on: connection) }
        if isIncomplete { start.remarks.append(Self.gapRemark) }
        for window in NotificationWindows.slices(from: asked.lowerBound, to: asked.upperBound) {
            _ = try connection.run(
                """
                INSERT INTO crawl_items AS i
                    (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
                VALUES ($1, $2, 'notificationHistory', $3, $4, 'waiting', clock_timestamp(), $5, $6, $7)
                ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
                    run_id = excluded.run_id, \(Self.isToDo), cursor = NULL, window_start = excluded.window_start
                """,
                [
                    app, job, .text(Self.key(of: window, fingerprint)), .bigint(start.run),
                    .text(fingerprint), .timestamp(window.lowerBound.rawValue), .timestamp(window.upperBound.rawValue),
                ]
            )
        }
    }

    /// Names a window; another filter's window of the same time is another item, for it owes other notifications.
    private static func key(of window: Range<UnixMilliseconds>, _ fingerprint: String) -> String {
        let filters = SHA256.digest(of: Array(fingerprint.utf8)).prefix(4).hexadecimal
        return "\(window.lowerBound.rawValue)..\(window.upperBound.rawValue)#\(filters)"
    }

    /// Windows an earlier run could not finish are part of this one; their tokens may still do.
    private func takeUpUndoneWindows(
        _ fingerprint: String,
        _ run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        _ = try connection.run(
            """
            UPDATE crawl_items SET run_id = $4, \(Self.isToDo)
             WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory' AND fingerprint = $3
               AND state = 'failed' AND window_end > $5
            """,
            [
                app, job, .text(fingerprint), .bigint(run),
                .timestamp(plan.oldestNotification.rawValue),
            ]
        )
    }

    /// Windows an earlier run could not finish, and that are out of Apple's reach by now.
    ///
    /// - Returns: How many of them were not known before.
    private func recordLostWindows(
        _ fingerprint: String,
        _ run: Int64,
        on connection: borrowing PostgresConnection
    ) throws -> Int {
        try connection.run(
            """
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            SELECT app_id, job, stream, item_key, window_start, window_end,
                   'the window was not finished while Apple served it', $4
              FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory' AND fingerprint = $3
               AND state = 'failed' AND window_end <= $5
            ON CONFLICT DO NOTHING
            """,
            [
                app, job, .text(fingerprint), .bigint(run),
                .timestamp(plan.oldestNotification.rawValue),
            ]
        ).affected
    }

    private func recordGap(
        _ gap: Range<UnixMilliseconds>,
        run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        _ = try connection.run(
            """
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            VALUES ($1, $2, 'notificationHistory', 'app', $3, $4, 'Apple no longer serves notifications this old', $5)
            ON CONFLICT (app_id, job, stream, item_key, gap_start)
            DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
            """,
            [app, job, .timestamp(gap.lowerBound.rawValue), .timestamp(gap.upperBound.rawValue), .bigint(run)]
        )
    }
}
