import AppStoreModel
import JobPlan
import LedgerTables
import Postgres

/// Turns a run's plan into work items, in the database; no list of IDs is ever whole in memory.
struct ItemPlanner {
    let plan: RunPlan

    /// Late entries reach Apple's notification history after newer ones, so a window begins a little before the last ended.
    static let overlap = Duration.seconds(3_600)

    private var app: Cell { .integer(plan.app.rawValue) }
    private var job: Cell { .text(plan.job.name) }

    func begin(_ ids: ListedIDs, on connection: borrowing PostgresConnection) throws -> RunStart {
        let run = try connection.run(
            """
            INSERT INTO runs (app_id, job, fingerprint, frozen_now, version)
            VALUES ($1, $2, $3, $4, $5) RETURNING run_id
            """,
            [app, job, .text(plan.fingerprint), .timestamp(plan.now.rawValue), .text(plan.version)]
        )[0].int64("run_id")
        var start = RunStart(run: run, now: plan.now, joined: false)
        try take(ids, into: &start, on: connection)
        for stream in plan.streamsOfIDs {
            try planItems(of: stream, in: &start, on: connection)
        }
        if let notifications = plan.job.streams.notificationHistory, notifications.scope == .app {
            try planWindows(notifications, in: &start, on: connection)
        }
        _ = try connection.run(
            "UPDATE runs SET listed_ids = $3, duplicate_ids = $4 WHERE app_id = $1 AND run_id = $2",
            [app, .bigint(run), .bigint(start.listedIDs), .bigint(start.duplicateIDs)]
        )
        return start
    }

    /// Copies the listed IDs into the staging table and drops the duplicates there.
    private func take(_ ids: ListedIDs, into start: inout RunStart, on connection: borrowing PostgresConnection) throws
    {
        switch ids {
        case .none:
            return
        case .feed(let feed):
            try feed { batch in
                try connection.copyIn("stage_ids", columns: ["item_key"], rows: batch.lazy.map { [.text($0.text)] })
            }
        case .query(let sql):
            // The line feed ends a comment the query may end with.
            _ = try connection.run(
                """
                INSERT INTO stage_ids (item_key) SELECT listed.id::text FROM (\(sql)
                ) AS listed (id) WHERE listed.id IS NOT NULL
                """
            )
            let bad = try connection.run(
                "SELECT left(item_key, 40) AS id FROM stage_ids WHERE item_key !~ '^[0-9]{1,20}$' LIMIT 1"
            )
            if let row = bad.first { throw BadListedID(found: try row.text("id")) }
        }
        let counted = try connection.run("SELECT count(*) AS listed, count(DISTINCT item_key) AS kept FROM stage_ids")[
            0
        ]
        start.listedIDs = try counted.int64("kept")
        start.duplicateIDs = try counted.int64("listed") - start.listedIDs
    }

    /// One item for each listed ID. A finished one goes on from its cursor, unless its filters have changed.
    func planItems(of stream: Stream, in start: inout RunStart, on connection: borrowing PostgresConnection) throws {
        let fingerprint = plan.job.queryFingerprint(for: stream)
        let changed = try connection.run(
            """
            SELECT count(*) AS items FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = $3 AND fingerprint <> $4 AND (cursor IS NOT NULL OR complete_until IS NOT NULL)
            """,
            [app, job, .text(stream.rawValue), .text(fingerprint)]
        )[0].int64("items")
        if changed > 0 {
            start.remarks.append(
                "\(stream.rawValue): the filters have changed; \(changed) items begin again at their beginning"
            )
        }
        var window: (start: Cell, end: Cell, oldest: Cell) = (.null, .null, .null)
        var unreachable: Range<UnixMilliseconds>?
        if stream == .notificationHistory, let notifications = plan.job.streams.notificationHistory {
            let span = notifications.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
            unreachable = notifications.startDate == .lastRun ? nil : span.unreachable
            window = (
                .timestamp(span.asked.lowerBound.rawValue), .timestamp(span.asked.upperBound.rawValue),
                .timestamp((plan.now - plan.job.app.environment.notificationReach).rawValue)
            )
        }
        _ = try connection.run(
            """
            INSERT INTO crawl_items AS i
                (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
            SELECT $1::integer, $2::text, $3::text, item_key, $5::bigint, 'waiting', clock_timestamp(), $4::text,
                   $6::timestamptz, $7::timestamptz
              FROM (SELECT DISTINCT item_key FROM stage_ids) listed
            \(Self.takeUpAgain)
            """,
            [
                app, job, .text(stream.rawValue), .text(fingerprint), .bigint(start.run), window.start, window.end,
                .boolean(plan.restart), .boolean(plan.keepsCursor(of: stream)), window.oldest,
                .bigint(Self.overlap.wholeMilliseconds), .boolean(plan.job.appStore.triesSandbox),
            ]
        )
        if stream == .notificationHistory {
            try recordItemGaps(&start, oldest: window.oldest, beforeFirst: unreachable, on: connection)
        }
    }

    /// An item that exists already. Its lease, if somebody still holds one, is over: the state and owner no longer fit.
    ///
    /// Parameters beyond the insert's: 8 restart, 9 whether the cursor outlives a run, 10 Apple's reach, 11 overlap in ms,
    /// 12 whether the sandbox may be tried.
    private static let takeUpAgain = """
        ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
            run_id = excluded.run_id, state = 'waiting', claimable_at = excluded.claimable_at, lease_owner = NULL,
            cursor = CASE WHEN NOT $8::boolean AND $9::boolean AND i.fingerprint = excluded.fingerprint
                               AND (i.other_environment IS NULL OR $12::boolean) THEN i.cursor END,
            other_environment = CASE WHEN NOT $8::boolean AND $12::boolean THEN i.other_environment END,
            complete_until = CASE WHEN NOT $8::boolean AND i.fingerprint = excluded.fingerprint THEN i.complete_until END,
            window_start = CASE
                WHEN excluded.window_end IS NOT NULL AND NOT $8::boolean AND i.fingerprint = excluded.fingerprint
                     AND i.complete_until IS NOT NULL
                THEN least(greatest(i.complete_until - $11::bigint * interval '1 millisecond', $10::timestamptz), excluded.window_end)
                ELSE excluded.window_start END,
            window_end = excluded.window_end, fingerprint = excluded.fingerprint,
            page_count = 0, request_count = 0, rows_new = 0, rows_updated = 0, rows_unchanged = 0, records_rejected = 0,
            restarts = 0, deferrals = 0, error_code = NULL, error_message = NULL, finished_at = NULL
        """

    /// Notifications of an ID that Apple has dropped: since it was last complete, or before anything was asked for.
    private func recordItemGaps(
        _ start: inout RunStart,
        oldest: Cell,
        beforeFirst unreachable: Range<UnixMilliseconds>?,
        on connection: borrowing PostgresConnection
    ) throws {
        let recorded = try connection.run(
            """
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            SELECT app_id, job, stream, item_key, coalesce(complete_until, $5::timestamptz),
                   least($4::timestamptz, window_end), 'Apple no longer serves notifications this old', $3::bigint
              FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory' AND run_id = $3
               AND coalesce(complete_until, $5) < least($4, window_end)
            ON CONFLICT (app_id, job, stream, item_key, gap_start)
            DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
            """,
            [
                app, job, .bigint(start.run), oldest,
                unreachable.map { .timestamp($0.lowerBound.rawValue) } ?? .null,
            ]
        )
        if recorded.affected > 0 { start.remarks.append(Self.gapRemark) }
    }

    private static let gapRemark =
        "notificationHistory: Apple no longer serves the oldest part of what was asked for; the gap is recorded"

    /// The whole app's notifications: what earlier windows left undone, then windows from the last one's end to now.
    private func planWindows(
        _ notifications: NotificationStream,
        in start: inout RunStart,
        on connection: borrowing PostgresConnection
    ) throws {
        let fingerprint = plan.job.queryFingerprint(for: .notificationHistory)
        let known = try connection.run(
            """
            SELECT max(window_end) AS last_end FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory' AND fingerprint = $3
            """,
            [app, job, .text(fingerprint)]
        )[0].timestampOrNil("last_end").map(UnixMilliseconds.init(rawValue:))
        let lastEnd = plan.restart ? nil : known

        let span = notifications.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
        var asked = span.asked
        // "As far back as Apple goes" cannot be short of anything.
        var gap = notifications.startDate == .lastRun ? nil : span.unreachable
        var isIncomplete = gap != nil
        if let lastEnd {
            let oldest = plan.now - plan.job.app.environment.notificationReach
            let end = asked.upperBound
            gap = lastEnd < min(oldest, end) ? lastEnd..<min(oldest, end) : nil
            asked = min(max(lastEnd - Self.overlap, oldest), end)..<end
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
                    run_id = excluded.run_id, state = 'waiting', claimable_at = excluded.claimable_at, lease_owner = NULL,
                    cursor = NULL, fingerprint = excluded.fingerprint, window_start = excluded.window_start, page_count = 0, request_count = 0, rows_new = 0,
                    rows_updated = 0, rows_unchanged = 0, records_rejected = 0, restarts = 0, deferrals = 0,
                    error_code = NULL, error_message = NULL, finished_at = NULL
                """,
                [
                    app, job, .text("\(window.lowerBound.rawValue)..\(window.upperBound.rawValue)"), .bigint(start.run),
                    .text(fingerprint), .timestamp(window.lowerBound.rawValue), .timestamp(window.upperBound.rawValue),
                ]
            )
        }
    }

    /// Windows an earlier run could not finish are part of this one; their tokens may still do.
    private func takeUpUndoneWindows(
        _ fingerprint: String,
        _ run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        _ = try connection.run(
            """
            UPDATE crawl_items SET run_id = $4, state = 'waiting', claimable_at = clock_timestamp(), lease_owner = NULL,
                   page_count = 0, request_count = 0, rows_new = 0, rows_updated = 0, rows_unchanged = 0,
                   records_rejected = 0, restarts = 0, deferrals = 0, error_code = NULL, error_message = NULL,
                   finished_at = NULL
             WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory' AND fingerprint = $3
               AND state = 'failed' AND window_end > $5
            """,
            [
                app, job, .text(fingerprint), .bigint(run),
                .timestamp((plan.now - plan.job.app.environment.notificationReach).rawValue),
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
                .timestamp((plan.now - plan.job.app.environment.notificationReach).rawValue),
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
