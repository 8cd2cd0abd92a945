import AppStoreModel
import Basics
import JobFiles
import JobSyntax
import Ledger
import LedgerSchema
import Postgres
import Streams

/// Creates a run's work items in the database, without the whole list of IDs in memory.
struct ItemPlanner {
    let plan: RunPlan

    var app: Cell { .integer(plan.app.rawValue) }
    var job: Cell { .text(plan.job.name) }

    static func gapRemark(_ stream: StreamName) -> String {
        "\(stream.rawValue): Apple no longer serves the oldest part of the requested time; the gap is recorded"
    }

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
        into start: StartedRun,
        on connection: borrowing PostgresConnection
    ) throws -> StartedRun {
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
        let skipped = staged.skipped(of: plan.job)
        start.remarks += skipped.remarks
        return try connection.transaction(.readCommitted) { connection in
            try connection.script(Ledger.defaultPlanner)
            let moved = try connection.run(
                .endPlanning,
                [
                    "app": app,
                    "run": .bigint(start.run),
                    "listed": .bigint(start.listedIDs),
                    "duplicates": .bigint(start.duplicateIDs),
                    "withheld": .bigint(start.withheldIDs),
                    "phase": .integer(plan.changedSince == nil ? 1 : 0),
                    "empty_lists": .integer(Int32(emptyLists.count)),
                    "unreadable_receipts": .bigint(Int64(skipped.unreadable)),
                ]
            )
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
            .insertRun,
            [
                "app": app,
                "job": job,
                "fingerprint": .text(plan.fingerprint),
                "now": .timestamp(plan.now.rawValue),
                "version": .text(plan.version),
                "restarted": .boolean(plan.restart),
                "phase": .integer(phase),
                "is_retry": .boolean(isRetry),
                "begun_by": .uuid(invocation.bytes),
                "server": .text(plan.job.appStore.baseURL),
                "trusted_roots": .textArray(plan.trustedRoots),
                "job_file": plan.jobFile.map { .text($0.path) } ?? .null,
                "job_host": plan.jobFile.map { .text($0.host) } ?? .null,
                "streams_fingerprint": .text(plan.streamsFingerprint),
                "customers_since": plan.customersSince.map { .timestamp($0.rawValue) } ?? .null,
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
                    .noteFilters,
                    [
                        "app": app,
                        "job": job,
                        "stream": .text(stream.rawValue),
                        "filters": .text(plan.job.queryFingerprint(for: stream)),
                    ]
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
    /// If a superseded run has finished an item since the job's last complete run, the item stays finished.
    private func insertItems(of stream: StreamName, run: Int64, on connection: borrowing PostgresConnection) throws {
        let fingerprint = plan.job.queryFingerprint(for: stream)
        if !plan.restart {
            _ = try connection.runOnce(
                .keepFinished,
                [
                    "app": app,
                    "job": job,
                    "stream": .text(stream.rawValue),
                    "filters": .text(fingerprint),
                    "run": .bigint(run),
                ]
            )
        }
        let settings = plan.job.streams[stream]
        let window = requestedWindow(settings?.dates)
        let keepsCursor = settings?.keepsCursor ?? false
        let overlap = settings?.dates?.overlap ?? RequestedDates.defaultOverlap
        _ = try connection.runOnce(
            .insertItems,
            [
                "app": app,
                "job": job,
                "stream": .text(stream.rawValue),
                "filters": .text(fingerprint),
                "run": .bigint(run),
                "starts_at": window.start,
                "ends_at": window.end,
                "restart": .boolean(plan.restart),
                "keeps_cursor": .boolean(keepsCursor),
                "oldest": window.oldest,
                "overlap_milliseconds": .bigint(overlap.wholeMilliseconds),
                "tries_sandbox": .boolean(plan.job.appStore.triesSandbox),
                "follows_others": .boolean(plan.changedSince != nil && keepsCursor && !plan.restart),
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

    /// Records a gap for each item with a period that no run has read and that Apple no longer serves.
    private func recordItemGaps(
        of stream: StreamName,
        _ dates: RequestedDates,
        in start: inout StartedRun,
        on connection: borrowing PostgresConnection
    ) throws {
        let unreachable = dates.startDate == .lastRun ? nil : span(of: dates).unreachable
        let recorded = try connection.run(
            .recordItemGaps,
            [
                "app": app,
                "job": job,
                "run": .bigint(start.run),
                "oldest": .timestamp(plan.oldestNotification.rawValue),
                "unreachable": unreachable.map { .timestamp($0.lowerBound.rawValue) } ?? .null,
                "stream": .text(stream.rawValue),
            ]
        )
        if recorded.affected > 0 { start.remarks.append(Self.gapRemark(stream)) }
    }
}
