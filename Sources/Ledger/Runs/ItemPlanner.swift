import AppStoreModel
import JobPlan
import LedgerTables
import Postgres
import Workers

/// Turns a run's plan into work items, in the database; no list of IDs is ever whole in memory.
struct ItemPlanner {
    let plan: RunPlan

    /// Late entries reach Apple's notification history after newer ones, so a window begins a little before the last ended.
    static let overlap = Duration.seconds(3_600)

    var app: Cell { .integer(plan.app.rawValue) }
    var job: Cell { .text(plan.job.name) }

    static let gapRemark =
        "notificationHistory: Apple no longer serves the oldest part of what was asked for; the gap is recorded"

    /// An item that is to do again: nobody's, and counted from zero.
    ///
    /// Its lease, if somebody still holds one, is over.
    static let isToDo = """
        state = 'waiting', claimable_at = clock_timestamp(), lease_owner = NULL, page_count = 0, request_count = 0,
        rows_new = 0, rows_updated = 0, rows_unchanged = 0, records_rejected = 0, records_withheld = 0, restarts = 0, deferrals = 0,
        error_code = NULL, error_message = NULL, finished_at = NULL
        """

    func begin(_ ids: ListedIDs, on connection: borrowing PostgresConnection) throws -> RunStart {
        let run = try insertRun(phase: plan.changedSince == nil ? 1 : 0, on: connection)
        crashPoint(.runInserted)
        var start = RunStart(run: run, now: plan.now, joined: false, restarted: plan.restart)
        try take(ids, into: &start, on: connection)
        crashPoint(.idsListed)
        if let since = plan.changedSince {
            start.remarks += try ChangedCustomers(plan: plan).remarks(on: since, connection)
        } else {
            for stream in plan.streamsOfIDs {
                try planItems(of: stream, in: &start, on: connection)
            }
        }
        try Staging.emptyIDs(on: connection)
        if let notifications = plan.job.streams.notificationHistory, notifications.scope == .app {
            try planWindows(notifications, in: &start, on: connection)
        }
        _ = try connection.run(
            "UPDATE runs SET listed_ids = $3, duplicate_ids = $4, withheld_ids = $5 WHERE app_id = $1 AND run_id = $2",
            [app, .bigint(run), .bigint(start.listedIDs), .bigint(start.duplicateIDs), .bigint(start.withheldIDs)]
        )
        return start
    }

    /// Files a run that begins.
    ///
    /// - Returns: Its number.
    func insertRun(phase: Int32, on connection: borrowing PostgresConnection) throws(PostgresError) -> Int64 {
        try connection.run(
            """
            INSERT INTO runs (app_id, job, fingerprint, frozen_now, version, restarted, phase, server, trusted_roots)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING run_id
            """,
            [
                app, job, .text(plan.fingerprint), .timestamp(plan.now.rawValue), .text(plan.version),
                .boolean(plan.restart), .integer(phase), .text(plan.job.appStore.baseURL),
                .textArray(plan.trustedRoots),
            ]
        )[0].int64("run_id")
    }

    /// Copies the listed IDs into the staging table and drops the duplicates there.
    private func take(_ ids: ListedIDs, into start: inout RunStart, on connection: borrowing PostgresConnection) throws
    {
        switch ids {
        case .none:
            return
        case .feed(let feed):
            try feed { batch in
                let rows = batch.lazy.map { id -> [Cell] in
                    crashPoint(.idCopied)
                    return [.text(id.text)]
                }
                try connection.copyIn("stage_ids", columns: ["item_key"], rows: rows)
            }
        case .query(let sql):
            try BadListQuery.judge {
                // The line feed ends a comment the query may end with.
                _ = try connection.run(
                    """
                    INSERT INTO stage_ids (item_key) SELECT listed.id::text FROM (\(sql)
                    ) AS listed (id) WHERE listed.id IS NOT NULL
                    """
                )
            }
            let bad = try connection.run(
                "SELECT left(item_key, 40) AS id FROM stage_ids WHERE item_key !~ '^[0-9]{1,20}$' LIMIT 1"
            )
            if let row = bad.first { throw BadListedID(found: try row.text("id")) }
        }
        let counted = try connection.run(
            "SELECT count(*) AS listed, count(DISTINCT item_key) AS kept FROM stage_ids"
        )[0]
        start.listedIDs = try counted.int64("kept")
        start.duplicateIDs = try counted.int64("listed") - start.listedIDs
        start.withheldIDs = try dropErased(on: connection)
        if start.withheldIDs > 0 {
            start.remarks.append("\(start.withheldIDs) listed IDs are of erased customers and not asked for")
        }
    }

    /// Takes the IDs of erased customers off the staged list, and holds off erasures until the plan is made.
    func dropErased(on connection: borrowing PostgresConnection) throws(PostgresError) -> Int64 {
        try Tombstones.hold(plan.app, on: connection)?.dropListed(on: connection) ?? 0
    }

    /// One item for each listed ID.
    ///
    /// A finished one goes on from its cursor, unless its filters have changed.
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
            let whose = plan.changedSince == nil ? "begin" : "of customers begin, each when it is next named,"
            start.remarks.append(
                "\(stream.rawValue): the filters have changed; \(changed) items \(whose) again at their beginning"
            )
        }
        var window: (start: Cell, end: Cell, oldest: Cell) = (.null, .null, .null)
        var unreachable: Range<UnixMilliseconds>?
        if stream == .notificationHistory, let notifications = plan.job.streams.notificationHistory {
            let span = notifications.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
            unreachable = notifications.startDate == .lastRun ? nil : span.unreachable
            window = (
                .timestamp(span.asked.lowerBound.rawValue), .timestamp(span.asked.upperBound.rawValue),
                .timestamp(plan.oldestNotification.rawValue)
            )
        }
        _ = try connection.run(
            """
            INSERT INTO crawl_items AS i
                (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end, cursor,
                 complete_until, saw_revocation)
            SELECT $1::integer, $2::text, $3::text, listed.item_key, $5::bigint, 'waiting', clock_timestamp(), $4::text,
                   $6::timestamptz, $7::timestamptz, seen.cursor, seen.complete_until, coalesce(seen.saw_revocation, false)
              FROM (SELECT DISTINCT item_key FROM stage_ids ORDER BY item_key) listed \(Self.seenByOthers)
             WHERE $6 IS NULL OR $6 < $7
            \(Self.takeUpAgain)
            """,
            [
                app, job, .text(stream.rawValue), .text(fingerprint), .bigint(start.run), window.start, window.end,
                .boolean(plan.restart), .boolean(plan.keepsCursor(of: stream)), window.oldest,
                .bigint(Self.overlap.wholeMilliseconds), .boolean(plan.job.appStore.triesSandbox),
                .boolean(plan.changedSince != nil && plan.keepsCursor(of: stream) && !plan.restart),
            ]
        )
        if stream == .notificationHistory {
            try recordItemGaps(&start, oldest: window.oldest, beforeFirst: unreachable, on: connection)
        }
        // Until autovacuum comes by, the planner would take the table for a small one and sort all of it for each lease.
        _ = try connection.run("SELECT analyze_crawl_items()")
    }

    /// Where another job of the app stands with the same filters: of use where the job does not list everybody itself.
    ///
    /// What lies before that job's cursor is in the ledger, whoever asked for it. Parameter 13: whether to look.
    private static let seenByOthers = """
        LEFT JOIN LATERAL (
            SELECT o.cursor, o.complete_until, o.saw_revocation
              FROM (SELECT DISTINCT job FROM runs WHERE app_id = $1::integer AND $13::boolean) others
              JOIN crawl_items o ON o.app_id = $1::integer AND o.job = others.job AND o.stream = $3::text
                                AND o.item_key = listed.item_key
             WHERE o.job <> $2::text AND o.fingerprint = $4::text AND o.cursor IS NOT NULL AND o.other_environment IS NULL
             ORDER BY o.complete_until DESC NULLS LAST, o.job LIMIT 1
        ) seen ON true
        """

    /// An item that exists already.
    ///
    /// A window of notifications begins where the last complete one ended. Where none was completed, or everything is to
    /// begin again, it begins no later than what was asked for before: nothing that was ever owed is forgotten.
    /// The other environment is kept only where it once knew the ID.
    /// Parameters beyond the insert's: 8 restart, 9 whether the cursor outlives a run, 10 Apple's reach, 11 overlap in ms,
    /// 12 whether the sandbox may be tried.
    private static let takeUpAgain = """
        ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
            run_id = excluded.run_id, \(isToDo),
            cursor = CASE WHEN NOT $8::boolean AND $9::boolean AND i.fingerprint = excluded.fingerprint
                               AND (i.other_environment IS NULL OR ($12::boolean AND i.complete_until IS NOT NULL))
                          THEN i.cursor END,
            other_environment = CASE WHEN NOT $8::boolean AND $12::boolean AND i.complete_until IS NOT NULL
                                     THEN i.other_environment END,
            complete_until = CASE WHEN i.fingerprint = excluded.fingerprint THEN i.complete_until END,
            window_start = CASE
                WHEN excluded.window_end IS NULL OR i.fingerprint <> excluded.fingerprint THEN excluded.window_start
                WHEN i.complete_until IS NULL
                THEN greatest(least(i.window_start, excluded.window_start), $10::timestamptz)
                WHEN $8::boolean
                THEN greatest(least(i.complete_until - $11::bigint * interval '1 millisecond', excluded.window_start), $10)
                ELSE least(greatest(i.complete_until - $11 * interval '1 millisecond', $10), excluded.window_end) END,
            window_end = excluded.window_end, fingerprint = excluded.fingerprint
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

}
