import AppStoreModel
import Basics
import JobPlan
import Ledger
import LedgerSchema
import Postgres
import SignedData

/// Plans the windows of an app-wide stream.
struct WindowPlanner {
    let plan: RunPlan
    let stream: StreamName
    let dates: RequestedDates

    /// Parameters 1 to 4 of every statement: app, job, stream, filters.
    private var key: [Cell] {
        [
            .integer(plan.app.rawValue), .text(plan.job.name), .text(stream.rawValue),
            .text(plan.job.queryFingerprint(for: stream)),
        ]
    }

    /// Plans earlier windows that are unfinished or have rejected records, and new windows from the end of the last one to now.
    func plan(into start: inout RunStart, on connection: borrowing PostgresConnection) throws {
        let oldest = plan.oldestNotification
        try forgetFutureWindows(on: connection)
        // Windows of days that are read again end earlier, so they do not affect the maximum.
        let lastEnd = try connection.run(
            """
            SELECT max(window_end) AS last_end FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = $3 AND fingerprint = $4
            """,
            key
        )[0].timestampOrNil("last_end").map(UnixMilliseconds.init(rawValue:))

        let span = dates.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
        var requested = span.requested
        // The first run with `startDate: lastRun` requests everything that Apple has, so nothing is missing.
        var gap = dates.startDate == .lastRun ? nil : span.unreachable
        var lost = 0
        if let lastEnd {
            let end = requested.upperBound
            gap = lastEnd < min(oldest, end) ? lastEnd..<min(oldest, end) : nil
            // A restart starts no later than the end of the last window, because later time was never requested.
            let begin = max(lastEnd - dates.overlap, oldest)
            requested = min(plan.restart ? min(begin, requested.lowerBound) : begin, end)..<end
            try addEarlierWindows(start.run, on: connection)
            lost = try recordLostWindows(start.run, on: connection)
        }
        if let gap { try recordGap(gap, run: start.run, on: connection) }
        if gap != nil || lost > 0 { start.remarks.append(ItemPlanner.gapRemark(stream)) }
        for window in NotificationWindows.slices(from: requested.lowerBound, to: requested.upperBound) {
            _ = try connection.run(
                """
                INSERT INTO crawl_items AS i
                    (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
                VALUES ($1, $2, $3, $5, $6, 'waiting', clock_timestamp(), $4, $7, $8)
                ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
                    run_id = excluded.run_id, \(ItemPlanner.resetToWaiting), cursor = NULL, window_start = excluded.window_start
                """,
                key + [
                    .text("\(window.lowerBound.rawValue)..\(window.upperBound.rawValue)#\(filterMark)"),
                    .bigint(start.run),
                    .timestamp(window.lowerBound.rawValue), .timestamp(window.upperBound.rawValue),
                ]
            )
        }
        guard lastEnd != nil else { return }
        if dates.startDate == .lastRun { try planFailures(before: requested.lowerBound, start.run, on: connection) }
        try planSecondReadings(start.run, on: connection)
        try planDaysOfReceiver(start.run, on: connection)
    }

    /// Forgets windows that were planned while PostgreSQL's clock was ahead, so that this run plans their time again.
    ///
    /// These are windows that end in the future, and the windows of runs from the future that follow the last window of
    /// another run. Such a run also computes too late a date for Apple's oldest notification, so it records false gaps. Its
    /// gaps are deleted unless Apple no longer serves their time. Its second readings may have been too early, so they are
    /// deleted too.
    private func forgetFutureWindows(on connection: borrowing PostgresConnection) throws {
        let (latest, runs) = (FutureState.latest("$5"), FutureState.runs(now: "$5"))
        let found = try connection.run(
            """
            SELECT EXISTS (\(runs))
                OR EXISTS (SELECT FROM crawl_items WHERE app_id = $1 AND job = $2 AND stream = $3 AND fingerprint = $4
                              AND window_end > \(latest)) AS is_needed
            """,
            key + [.timestamp(plan.latestNow.rawValue)]
        )
        guard try found[0].bool("is_needed") else { return }
        _ = try connection.run(
            """
            DELETE FROM crawl_items i
             WHERE i.app_id = $1 AND i.job = $2 AND i.stream = $3 AND i.fingerprint = $4
               AND (i.window_end > \(latest)
                    OR i.run_id IN (\(runs))
                       AND (i.item_key LIKE '%\(WindowReading.secondSuffix)'
                            OR i.window_end > coalesce(
                                   (SELECT max(o.window_end) FROM crawl_items o
                                     WHERE o.app_id = $1 AND o.job = $2 AND o.stream = $3 AND o.fingerprint = $4
                                       AND o.window_end <= \(latest) AND o.run_id NOT IN (\(runs))), '-infinity')))
            """,
            key + [.timestamp(plan.latestNow.rawValue)]
        )
        _ = try connection.run(
            """
            DELETE FROM coverage_gaps
             WHERE app_id = $1 AND job = $2 AND stream = $3 AND gap_end > $4::timestamptz
               AND run_id IN (\(FutureState.runs(now: "$5")))
            """,
            key.prefix(3) + [.timestamp(plan.oldestNotification.rawValue), .timestamp(plan.latestNow.rawValue)]
        )
    }

    /// A short hash of the filters, which is part of each window's key.
    ///
    /// A window with other filters has other notifications, so it is another item.
    private var filterMark: String {
        SHA256.digest(of: Array(plan.job.queryFingerprint(for: stream).utf8)).prefix(4).hexadecimal
    }

    /// An SQL condition for windows that are read for the first time; see ``JobPlan/WindowReading``.
    static func isFirstReading(_ alias: String) -> String {
        """
        \(alias).item_key NOT LIKE '%\(WindowReading.secondSuffix)' AND \(alias).item_key NOT LIKE '%\(WindowReading.againSuffix)'
        AND \(alias).item_key NOT LIKE '\(WindowReading.failuresPrefix)%'
        """
    }

    /// Plans the item for failed deliveries of the last seven days, up to the start of this run's windows.
    ///
    /// The seven days are one item, because Apple returns only failures for it, usually one page. Each run moves the
    /// item's window forward. The sandbox needs no such item: Apple tries only once there, so the first
    /// reading is complete.
    private func planFailures(
        before end: UnixMilliseconds,
        _ run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        let begin = max(plan.now - WindowReading.failuresReach, plan.oldestNotification)
        guard plan.job.app.environment == .production, begin < end else { return }
        _ = try connection.run(
            """
            INSERT INTO crawl_items AS i
                (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
            VALUES ($1, $2, $3, $5, $6, 'waiting', clock_timestamp(), $4, $7, $8)
            ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
                run_id = excluded.run_id, \(ItemPlanner.resetToWaiting), cursor = NULL,
                window_start = excluded.window_start, window_end = excluded.window_end
            """,
            key + [
                .text(WindowReading.failuresPrefix + filterMark), .bigint(run),
                .timestamp(begin.rawValue), .timestamp(end.rawValue),
            ]
        )
    }

    /// Plans one item for each closed day that is due for its second reading, once per day, filters and job.
    private func planSecondReadings(_ run: Int64, on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            """
            INSERT INTO crawl_items
                (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
            SELECT $1, $2, $3, due.item_key, $9, 'waiting', clock_timestamp(), $4, due.window_start, due.window_end
              FROM (\(Self.dueDays)) due
            ON CONFLICT (app_id, job, stream, item_key) DO NOTHING
            """,
            dueDaysParameters + [.bigint(run)]
        )
    }

    /// The number of closed days that a run would read again now.
    func countDueDays(on connection: borrowing PostgresConnection) throws -> Int64 {
        let due = try connection.run("SELECT count(*) AS days FROM (\(Self.dueDays)) due", dueDaysParameters)[0]
        let ofReceiver = try readsEverything ? daysOfReceiver(on: connection).count : 0
        return try due.int64("days") + Int64(ofReceiver)
    }

    /// Whether the windows have all notifications of their time.
    private var readsEverything: Bool {
        AllStreams.type(of: stream)?.readsEverything(plan.job.queryFingerprint(for: stream)) == true
    }

    /// Plans one item for each closed day with received notifications that the history did not list.
    ///
    /// Some notifications enter Apple's history late, so a reconciliation decides about a missing one only after another reading.
    private func planDaysOfReceiver(_ run: Int64, on connection: borrowing PostgresConnection) throws {
        guard readsEverything else { return }
        for day in try daysOfReceiver(on: connection) {
            let itemKey = "\(day.lowerBound.rawValue)..\(day.upperBound.rawValue)#\(filterMark)"
            _ = try connection.run(
                """
                INSERT INTO crawl_items AS i
                    (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
                VALUES ($1, $2, $3, $5, $6, 'waiting', clock_timestamp(), $4, $7, $8)
                ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
                    run_id = excluded.run_id, \(ItemPlanner.resetToWaiting), cursor = NULL
                """,
                key + [
                    .text(itemKey + WindowReading.againSuffix), .bigint(run),
                    .timestamp(day.lowerBound.rawValue), .timestamp(day.upperBound.rawValue),
                ]
            )
        }
    }

    /// The closed days with received notifications that the history did not list, as far as Apple serves them.
    private func daysOfReceiver(on connection: borrowing PostgresConnection) throws -> [Range<UnixMilliseconds>] {
        try connection.run(
            """
            SELECT DISTINCT day::timestamp AT TIME ZONE 'UTC' AS day FROM notification_reconciliation
             WHERE app_id = $1 AND to_be_read_again > 0 AND day::timestamp AT TIME ZONE 'UTC' >= $2 ORDER BY 1
            """,
            [key[0], .timestamp(plan.oldestNotification.rawValue)]
        ).map { row in
            let begin = UnixMilliseconds(rawValue: try row.timestamp("day"))
            return begin..<(begin + .seconds(86_400))
        }
    }

    /// Closed days that the job has read, but not since Apple's last delivery attempts for them.
    ///
    /// A day consists of the job's windows in it. It is due ``WindowReading/secondReadingDelay`` after its end, when
    /// all these windows are done. A day needs no second reading if one window covered it in a run that began
    /// after the day was due, as for the old days of a first run.
    ///
    /// The keys of windows begin with a moment in milliseconds. So a range of the primary key finds the windows that
    /// Apple still serves, and the cost does not grow with the ledger. Parameters: 1 app, 2 job, 3 stream, 4 filters, 5
    /// the first key that Apple serves, 6 the oldest date that Apple serves, 7 the latest end of a due day, 8 the end
    /// of the keys.
    private static let dueDays = """
        WITH pieces AS (
            SELECT date_trunc('day', i.window_start, 'UTC') AS day, i.window_start, i.window_end, i.state, r.frozen_now
              FROM crawl_items i JOIN runs r ON r.app_id = i.app_id AND r.run_id = i.run_id
             WHERE i.app_id = $1::integer AND i.job = $2::text AND i.stream = $3::text AND i.fingerprint = $4::text
               AND i.item_key >= $5::text AND \(isFirstReading("i"))
               AND i.window_end > $6::timestamptz AND i.window_start < $7::timestamptz
        ), days AS (
            SELECT day, min(window_start) AS window_start, max(window_end) AS window_end,
                   (extract(epoch FROM day) * 1000)::bigint || '..' || (extract(epoch FROM day) * 1000 + 86400000)::bigint
                       || $8::text AS item_key
              FROM pieces GROUP BY day HAVING bool_and(state = 'done')
        )
        SELECT d.item_key, greatest(d.window_start, $6) AS window_start, d.window_end
          FROM days d
         WHERE d.day + interval '24 hours' <= $7
           AND NOT EXISTS (SELECT FROM pieces p
                            WHERE p.day = d.day AND p.window_start <= d.window_start AND p.window_end >= d.window_end
                              AND p.frozen_now >= d.day + interval '24 hours'
                                                + interval '\(WindowReading.secondReadingDelay.components.seconds) seconds')
           AND NOT EXISTS (SELECT FROM crawl_items i
                            WHERE i.app_id = $1 AND i.job = $2 AND i.stream = $3 AND i.item_key = d.item_key)
        """

    private var dueDaysParameters: [Cell] {
        let oldest = plan.oldestNotification
        let day = Duration.seconds(86_400)
        return key + [
            .text(String((oldest - day).rawValue)), .timestamp(oldest.rawValue),
            .timestamp((plan.now - WindowReading.secondReadingDelay).rawValue),
            .text("#" + filterMark + WindowReading.secondSuffix),
        ]
    }

    /// Adds windows of earlier runs to this run: unfinished windows, windows with rejected records, and windows of runs
    /// from the future, which may have been read before their end.
    ///
    /// The token of an unfinished window may still be valid. The other windows start again.
    private func addEarlierWindows(_ run: Int64, on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            """
            UPDATE crawl_items SET run_id = $5, \(ItemPlanner.resetToWaiting),
                   cursor = CASE WHEN state IN ('failed', 'superseded') AND item_key NOT IN (\(ItemPlanner.rejectedOfStream)) THEN cursor END
             WHERE app_id = $1 AND job = $2 AND stream = $3 AND fingerprint = $4 AND window_end > $6
               AND (state IN ('failed', 'superseded') OR item_key IN (\(ItemPlanner.rejectedOfStream))
                    OR run_id IN (\(FutureState.runs(now: "$7"))))
            """,
            key + [
                .bigint(run), .timestamp(plan.oldestNotification.rawValue), .timestamp(plan.latestNow.rawValue),
            ]
        )
    }

    /// Records a gap for each unfinished window of an earlier run that Apple no longer serves.
    ///
    /// - Returns: The number of new gaps.
    private func recordLostWindows(_ run: Int64, on connection: borrowing PostgresConnection) throws -> Int {
        try connection.run(
            """
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            SELECT app_id, job, stream, item_key, window_start, window_end,
                   CASE WHEN \(Self.isFirstReading("i")) THEN 'the window was not finished while Apple served it'
                        ELSE 'the day was read once, and its second reading was not finished while Apple served it' END, $5
              FROM crawl_items i
             WHERE app_id = $1 AND job = $2 AND stream = $3 AND fingerprint = $4
               AND state IN ('failed', 'superseded') AND window_end <= $6 AND item_key NOT LIKE '\(WindowReading.failuresPrefix)%'
            ON CONFLICT DO NOTHING
            """,
            key + [.bigint(run), .timestamp(plan.oldestNotification.rawValue)]
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
            VALUES ($1, $2, $3, 'app', $4, $5, 'Apple no longer serves notifications this old', $6)
            ON CONFLICT (app_id, job, stream, item_key, gap_start)
            DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
            """,
            key.prefix(3) + [.timestamp(gap.lowerBound.rawValue), .timestamp(gap.upperBound.rawValue), .bigint(run)]
        )
    }
}
