import AppStoreModel
import Basics
import JobPlan
import Ledger
import LedgerSchema
import Postgres

/// Creates a run's work items in the database, without the whole list of IDs in memory.
struct ItemPlanner {
    let plan: RunPlan

    var app: Cell { .integer(plan.app.rawValue) }
    var job: Cell { .text(plan.job.name) }

    static func gapRemark(_ stream: StreamName) -> String {
        "\(stream.rawValue): Apple no longer serves the oldest part of the requested time; the gap is recorded"
    }

    /// Assignments that make an item available again, with zero counts.
    ///
    /// An existing lease ends.
    static let resetToWaiting = """
        state = 'waiting', claimable_at = clock_timestamp(), lease_owner = NULL, page_count = 0, request_count = 0,
        rows_new = 0, rows_updated = 0, rows_unchanged = 0, records_rejected = 0, records_withheld = 0, restarts = 0, deferrals = 0,
        error_code = NULL, error_message = NULL, finished_at = NULL
        """

    /// A query for the streams and keys of a job's items with rejected records that were neither loaded nor dismissed.
    ///
    /// Each run reads such an item again from its first page, because Apple may send the record intact now. When the reading
    /// ends, it resolves the rejects of earlier runs (`resolve_rejects.sql`).
    ///
    /// Parameters: 1 app, 2 job.
    static let rejected = """
        SELECT r.stream, r.item_key FROM apps own JOIN apps a USING (bundle_id) JOIN rejected_records r ON r.app_id = a.app_id
         WHERE own.app_id = $1::integer AND r.job = $2::text AND r.resolved_at IS NULL AND r.dismissed_at IS NULL
        """

    /// As ``rejected``, but only the keys of the items of one stream, parameter 3.
    static let rejectedOfStream = "SELECT item_key FROM (\(rejected)) r WHERE stream = $3::text"

    /// Plans the items of the staged IDs and all other initial items, and moves the run to its next phase.
    ///
    /// ``OpenRun/planning`` explains the phases.
    ///
    /// - Parameters:
    ///   - staged: The IDs in the session's temporary tables; no transaction IDs for a run with `changedSince`.
    ///   - start: The started or joined run.
    ///   - connection: Outside a transaction.
    /// - Returns: `start` with the counts and messages of the planning.
    /// - Throws: ``Postgres/PostgresError``.
    func plan(
        _ staged: StagedLists,
        into start: RunStart,
        on connection: borrowing PostgresConnection
    ) throws -> RunStart {
        var start = start
        let streams = plan.changedSince == nil ? plan.streamsOfIDs : []
        start.remarks += try noteFilters(of: streams + plan.streamsOfOwnLists, on: connection)
        start.withheldIDs = try planBatches(
            of: streams,
            staged.transactions,
            run: start.run,
            inPhase: OpenRun.planning,
            on: connection
        )
        for (stream, ids) in staged.own {
            start.withheldIDs += try planBatches(
                of: [stream],
                ids,
                run: start.run,
                inPhase: OpenRun.planning,
                on: connection
            )
        }
        try StagedIDs.empty(on: connection)
        if start.withheldIDs > 0 {
            start.remarks.append("\(start.withheldIDs) listed IDs belong to erased customers and are not requested")
        }
        let emptyLists = staged.emptyLists(of: plan.job)
        start.remarks += emptyLists.map {
            "\($0) has no ID, so nothing is requested for it and the run ends with 2; check what writes the list"
        }
        return try connection.transaction(.readCommitted) { connection in
            try connection.script(Ledger.defaultPlanner)
            let moved = try connection.run(
                """
                UPDATE runs SET phase = $6, listed_ids = $3, duplicate_ids = $4, withheld_ids = $5,
                       empty_lists = $7
                 WHERE app_id = $1 AND run_id = $2 AND phase = -1 AND finished_at IS NULL
                """,
                [
                    app, .bigint(start.run), .bigint(start.listedIDs), .bigint(start.duplicateIDs),
                    .bigint(start.withheldIDs), .integer(plan.changedSince == nil ? 1 : 0),
                    .integer(Int32(emptyLists.count)),
                ]
            )
            // If no row was updated, another process has moved the run on, or the run was superseded.
            guard moved.affected == 1 else { return start }
            if let since = plan.changedSince {
                start.remarks += try ChangedCustomers(plan: plan).remarks(on: since, connection)
            }
            for stream in plan.job.streams.all {
                guard let dates = stream.dates else { continue }
                if stream.items == .windows {
                    try WindowPlanner(plan: plan, stream: stream.name, dates: dates).plan(into: &start, on: connection)
                } else if streams.contains(stream.name) {
                    try recordItemGaps(of: stream.name, dates, in: &start, on: connection)
                }
            }
            _ = try connection.run("SELECT analyze_crawl_items()")
            return start
        }
    }

    /// Plans one item for each staged ID and stream, with one transaction per batch.
    ///
    /// Planning an existing batch again, after another process or a kill, changes nothing.
    ///
    /// - Parameters:
    ///   - streams: Streams with one item for each ID.
    ///   - staged: The IDs in the session's temporary tables.
    ///   - phase: The phase in which the items are planned; planning stops when the run has left it.
    ///   - connection: Outside a transaction.
    ///   - batchPlanned: Called inside each transaction, with the batch in `stage_ids`.
    /// - Returns: The number of IDs of erased customers.
    /// - Throws: ``Postgres/PostgresError``.
    func planBatches(
        of streams: [StreamName],
        _ staged: StagedIDs,
        run: Int64,
        inPhase phase: Int32,
        on connection: borrowing PostgresConnection,
        batchPlanned: (borrowing PostgresConnection) throws -> Void = { _ in }
    ) throws -> Int64 {
        var withheld: Int64 = 0
        for batch in staged.batches {
            let dropped = try connection.transaction(.readCommitted) { connection -> Int64? in
                // The check of a foreign key keeps its plan; otherwise PostgreSQL would plan it for each row.
                try connection.script("\(Ledger.defaultPlanner); SET LOCAL plan_cache_mode = auto")
                let isCurrent = try connection.run(
                    "SELECT FROM runs WHERE app_id = $1 AND run_id = $2 AND phase = $3 AND finished_at IS NULL FOR SHARE",
                    [app, .bigint(run), .integer(phase)]
                )
                guard isCurrent.count == 1 else { return nil }
                try staged.load(batch, on: connection)
                let dropped = try dropErased(plannedFor: streams, on: connection)
                for stream in streams { try insertItems(of: stream, run: run, on: connection) }
                try batchPlanned(connection)
                return dropped
            }
            guard let dropped else { break }
            crashPoint(.idBatchPlanned)
            withheld += dropped
        }
        return withheld
    }

    /// Inserts a new run.
    func insertRun(
        phase: Int32,
        isRetry: Bool = false,
        by invocation: Invocation,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int64 {
        try connection.run(
            """
            INSERT INTO runs
                (app_id, job, fingerprint, frozen_now, version, restarted, phase, is_retry, begun_by, server, trusted_roots,
                 job_file, job_host, streams_fingerprint, customers_since)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING run_id
            """,
            [
                app, job, .text(plan.fingerprint), .timestamp(plan.now.rawValue), .text(plan.version),
                .boolean(plan.restart), .integer(phase), .boolean(isRetry), .uuid(invocation.bytes),
                .text(plan.job.appStore.baseURL), .textArray(plan.trustedRoots),
                plan.jobFile.map { .text($0.path) } ?? .null, plan.jobFile.map { .text($0.host) } ?? .null,
                .text(plan.streamsFingerprint),
                plan.customersSince.map { .timestamp($0.rawValue) } ?? .null,
            ]
        )[0].int64("run_id")
    }

    /// Removes the IDs of erased customers from `stage_ids`, and blocks erasures until the transaction ends.
    func dropErased(
        plannedFor streams: [StreamName],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int64 {
        // The streams of a batch share one list. A stream's own list has order IDs.
        let ownLists = plan.streamsOfOwnLists
        let kind: CustomerID.Kind = streams.contains { ownLists.contains($0) } ? .order : .transaction
        return try Tombstones.blockingErasures(of: plan.app, on: connection)?.dropListed(kind, on: connection) ?? 0
    }

    /// Stores the filters of the streams, and finds changed ones.
    ///
    /// - Returns: A message for each stream whose items start again.
    func noteFilters(of streams: [StreamName], on connection: borrowing PostgresConnection) throws -> [String] {
        try connection.transaction(.readCommitted) { connection in
            var remarks: [String] = []
            for stream in streams {
                let changed = try connection.run(
                    """
                    WITH before AS (SELECT fingerprint FROM planned_streams WHERE app_id = $1 AND job = $2 AND stream = $3),
                    kept AS (
                        INSERT INTO planned_streams AS p (app_id, job, stream, fingerprint)
                        VALUES ($1::integer, $2::text, $3::text, $4::text)
                        ON CONFLICT (app_id, job, stream) DO UPDATE SET fingerprint = excluded.fingerprint
                         WHERE p.fingerprint <> excluded.fingerprint
                    )
                    SELECT FROM before WHERE fingerprint <> $4
                    """,
                    [app, job, .text(stream.rawValue), .text(plan.job.queryFingerprint(for: stream))]
                )
                guard changed.count > 0 else { continue }
                let effect = plan.changedSince == nil ? "its items start" : "each customer's next request starts"
                remarks.append("\(stream.rawValue): the filters have changed; \(effect) again at the first page")
            }
            return remarks
        }
    }

    /// Plans one item for each ID of the current batch.
    ///
    /// A finished item continues from its cursor, unless its filters have changed. If a superseded run
    /// has finished an item since the job's last complete run, the item stays finished.
    private func insertItems(of stream: StreamName, run: Int64, on connection: borrowing PostgresConnection) throws {
        let fingerprint = plan.job.queryFingerprint(for: stream)
        if !plan.restart {
            _ = try connection.runOnce(
                Self.keepFinished,
                [app, job, .text(stream.rawValue), .text(fingerprint), .bigint(run)]
            )
        }
        let settings = plan.job.streams[stream]
        let window = requestedWindow(settings?.dates)
        let keepsCursor = settings?.keepsCursor ?? false
        let overlap = settings?.dates?.overlap ?? RequestedDates.defaultOverlap
        _ = try connection.runOnce(
            """
            INSERT INTO crawl_items AS i
                (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end, cursor,
                 complete_until, saw_revocation)
            SELECT $1::integer, $2::text, $3::text, listed.item_key, $5::bigint, 'waiting', clock_timestamp(), $4::text,
                   $6::timestamptz, $7::timestamptz, seen.cursor, seen.complete_until, coalesce(seen.saw_revocation, false)
              FROM (SELECT item_key FROM stage_ids ORDER BY item_key) listed \(Self.seenByOthers)
             WHERE $6 IS NULL OR $6 < $7
            \(Self.onConflict)
            """,
            [
                app, job, .text(stream.rawValue), .text(fingerprint), .bigint(run), window.start, window.end,
                .boolean(plan.restart), .boolean(keepsCursor), window.oldest,
                .bigint(overlap.wholeMilliseconds), .boolean(plan.job.appStore.triesSandbox),
                .boolean(plan.changedSince != nil && keepsCursor && !plan.restart),
            ]
        )
    }

    /// The window of each item; NULL for a stream whose requests contain no dates.
    private func requestedWindow(_ dates: RequestedDates?) -> (start: Cell, end: Cell, oldest: Cell) {
        guard let dates else { return (.null, .null, .null) }
        let requested = span(of: dates).requested
        return (
            .timestamp(requested.lowerBound.rawValue), .timestamp(requested.upperBound.rawValue),
            .timestamp(plan.oldestNotification.rawValue)
        )
    }

    func span(of dates: RequestedDates) -> RequestedSpan {
        dates.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
    }

    /// Moves the finished items of superseded runs to the run that replaces them.
    ///
    /// If a job is started from two places with different lists, each run replaces the other place's run. If the
    /// finished items did not move, every such run would request its first customers again.
    ///
    /// Parameters: app, job, stream, filters, run.
    private static let keepFinished = """
        UPDATE crawl_items i SET run_id = $5::bigint
          FROM stage_ids listed
         WHERE i.app_id = $1::integer AND i.job = $2::text AND i.stream = $3::text AND i.item_key = listed.item_key
           AND i.state = 'done' AND i.fingerprint = $4::text AND i.run_id < $5
           AND i.run_id > (SELECT coalesce(max(r.run_id), 0) FROM runs r
                            WHERE r.app_id = $1 AND r.job = $2 AND r.finished_at IS NOT NULL AND r.exit_code <> \(Ledger.supersededCode))
        """

    /// The cursors of the app's other jobs with the same filters, for a job with `changedSince`, which has no list.
    ///
    /// All records before such a cursor are in the ledger, regardless of the job. Parameter 13: whether to use them.
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

    /// The `ON CONFLICT` clause: how an existing item is planned again.
    ///
    /// A window of notifications starts at one of these dates, so that no time is skipped:
    ///
    /// - After a change of the filters: the requested start.
    /// - If no window was completed, or the item has rejected records: the previous start or the requested start, whichever
    ///   is earlier.
    /// - With a restart: the end of the last complete window less the overlap, or the requested start, whichever is
    ///   earlier.
    /// - Otherwise: the end of the last complete window less the overlap.
    ///
    /// An item stays with the other environment only if that environment knew the ID.
    ///
    /// Parameters in addition to the insert's: 8 restart, 9 whether the cursor is kept between runs, 10 the oldest date
    /// that Apple serves, 11 overlap in ms, 12 whether the sandbox may be tried.
    private static let onConflict = """
        ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
            run_id = excluded.run_id, \(resetToWaiting),
            cursor = CASE WHEN NOT $8::boolean AND $9::boolean AND i.fingerprint = excluded.fingerprint
                               AND (i.other_environment IS NULL OR ($12::boolean AND i.complete_until IS NOT NULL))
                               AND i.item_key NOT IN (\(rejectedOfStream))
                          THEN i.cursor END,
            other_environment = CASE WHEN NOT $8::boolean AND $12::boolean AND i.complete_until IS NOT NULL
                                     THEN i.other_environment END,
            complete_until = CASE WHEN i.fingerprint = excluded.fingerprint THEN i.complete_until END,
            window_start = CASE
                WHEN excluded.window_end IS NULL OR i.fingerprint <> excluded.fingerprint THEN excluded.window_start
                WHEN i.complete_until IS NULL OR i.item_key IN (\(rejectedOfStream))
                THEN greatest(least(i.window_start, excluded.window_start), $10::timestamptz)
                WHEN $8::boolean
                THEN greatest(least(i.complete_until - $11::bigint * interval '1 millisecond', excluded.window_start), $10)
                ELSE least(greatest(i.complete_until - $11 * interval '1 millisecond', $10), excluded.window_end) END,
            window_end = excluded.window_end, fingerprint = excluded.fingerprint
         WHERE i.run_id <> excluded.run_id
        """

    /// Records a gap for each item with a period that no run has read and that Apple no longer serves.
    private func recordItemGaps(
        of stream: StreamName,
        _ dates: RequestedDates,
        in start: inout RunStart,
        on connection: borrowing PostgresConnection
    ) throws {
        let unreachable = dates.startDate == .lastRun ? nil : span(of: dates).unreachable
        let recorded = try connection.run(
            """
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            SELECT app_id, job, stream, item_key, coalesce(complete_until, $5::timestamptz),
                   least($4::timestamptz, window_end), 'Apple no longer serves notifications this old', $3::bigint
              FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND stream = $6 AND run_id = $3
               AND coalesce(complete_until, $5) < least($4, window_end)
            ON CONFLICT (app_id, job, stream, item_key, gap_start)
            DO UPDATE SET gap_end = excluded.gap_end, run_id = excluded.run_id
            """,
            [
                app, job, .bigint(start.run), .timestamp(plan.oldestNotification.rawValue),
                unreachable.map { .timestamp($0.lowerBound.rawValue) } ?? .null, .text(stream.rawValue),
            ]
        )
        if recorded.affected > 0 { start.remarks.append(Self.gapRemark(stream)) }
    }
}
