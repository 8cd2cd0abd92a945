import AppStoreModel
import Basics
import FoundationEssentials
import JobFiles
package import Ledger
import LedgerSchema
import Postgres

extension Ledger {
    /// Joins the job's unfinished run, or starts the next one.
    ///
    /// Items are planned in batches, one transaction each. Until the last batch is committed, the run is in phase -1,
    /// and no worker takes an item. After a kill, the next process continues with the list as it is then. Several
    /// processes can plan at the same time, because planning an existing batch again changes nothing.
    ///
    /// - Throws: ``BadListedID``, errors of the feed, ``Postgres/PostgresError``. An invalid list starts no run.
    package func beginOrJoin(_ plan: RunPlan, _ lists: RunLists) async throws -> StartedRun {
        let invocation = Invocation()
        return try await pages.withConnection { connection -> StartedRun in
            // The list is read only if it is needed.
            let open = try connection.transaction(.readCommitted) { try OpenRun.find(plan, on: $0) }
            if let open, open.isJoinable(plan), !open.isPlanning {
                try connection.transaction(.readCommitted) { try FutureState.releaseItems(of: open.run, plan, on: $0) }
                return open.runStart(plan)
            }
            let staged = try StagedLists.copy(lists, on: connection)
            let (opened, remarks) = try connection.transaction(.readCommitted) { connection in
                try Self.lockRuns(of: plan, on: connection)
                return try Self.open(plan, by: invocation, on: connection)
            }
            guard opened.isPlanning else { return opened.runStart(plan) }
            crashPoint(.idsListed)
            var start = opened.runStart(plan, joined: opened.begunBy != invocation)
            start.remarks.insert(contentsOf: remarks, at: 0)
            start.listedIDs = staged.transactions.count
            start.duplicateIDs = staged.transactions.duplicates
            return try ItemPlanner(plan: plan.frozen(as: start)).plan(staged, into: start, on: connection)
        }
    }

    /// Returns the unfinished run if it can be joined; otherwise starts a new one, which replaces it.
    private static func open(
        _ plan: RunPlan,
        by invocation: Invocation,
        on connection: borrowing PostgresConnection
    ) throws -> (run: OpenRun, remarks: [String]) {
        var remarks: [String] = []
        if !plan.restart { try refuseOtherFile(plan, on: connection) }
        if let open = try OpenRun.find(plan, isLocked: true, on: connection) {
            // If the answer to COMMIT was lost, the run exists and belongs to this invocation.
            if open.begunBy == invocation || open.isJoinable(plan) { return (open, []) }
            try supersede(open.run, of: plan, on: connection)
            remarks.append("run \(open.run) had work left\(open.difference(from: plan)); this run replaces it")
        }
        try FutureState.forget(plan, on: connection)
        let run = try ItemPlanner(plan: plan).insertRun(phase: OpenRun.planning, by: invocation, on: connection)
        crashPoint(.runInserted)
        return (
            OpenRun(
                run: run,
                fingerprint: plan.fingerprint,
                now: plan.now,
                restarted: plan.restart,
                isRetry: false,
                isPlanning: true,
                phase: OpenRun.planning,
                server: plan.job.appStore.baseURL,
                trustedRoots: plan.trustedRoots,
                begunBy: invocation
            ),
            remarks
        )
    }

    /// Checks that the job's last run read the same job file, or one that requests the same; changes nothing.
    ///
    /// - Throws: ``OtherJobFile``, ``Postgres/PostgresError``.
    package func checkJobFile(_ plan: RunPlan) async throws {
        try await transaction { try Self.refuseOtherFile(plan, on: $0) }
    }

    /// Refuses a second job file with the same job name if it requests something else.
    ///
    /// Two files request something else if their streams differ, or if only one of them takes its customers from
    /// notifications. A file that was edited or moved is the same job. Other lists are accepted, because a list may change
    /// with every run.
    ///
    /// - Throws: ``OtherJobFile``, ``Postgres/PostgresError``.
    private static func refuseOtherFile(_ plan: RunPlan, on connection: borrowing PostgresConnection) throws {
        guard let file = plan.jobFile else { return }
        let last = try connection.run(
            .otherJobFile,
            [
                "app": .integer(plan.app.rawValue),
                "job": .text(plan.job.name),
                "streams_fingerprint": .text(plan.streamsFingerprint),
                "fingerprint": .text(plan.fingerprint),
                "follows_notifications": .boolean(plan.changedSince != nil),
            ]
        )
        guard let row = last.first else { return }
        let known = JobFilePlace(path: try row.text("job_file"), host: try row.text("job_host"))
        if known.path == file.path { return }
        let wasMoved = known.host == file.host && !FileManager.default.fileExists(atPath: known.path)
        guard !wasMoved else { return }
        let difference: OtherJobFile.Difference =
            try row.bool("has_other_streams") ? .streams : .transactionIDs
        throw OtherJobFile(job: plan.job.name, known: known, found: file, difference: difference)
    }

    /// Ends an unfinished run that another run replaces.
    ///
    /// The new run plans the unfinished items of the old run again, and keeps their cursors if these are still valid. Until then
    /// they are superseded: nothing about them has failed.
    private static func supersede(
        _ run: Int64,
        of plan: RunPlan,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name), .bigint(run)]
        _ = try connection.run(
            """
            UPDATE crawl_items SET state = 'superseded', claimable_at = NULL, lease_owner = NULL, error_code = NULL,
                   error_message = NULL
             WHERE app_id = $1 AND job = $2 AND run_id = $3 AND claimable_at IS NOT NULL
            """,
            key
        )
        try storeCounts(
            count(run, app: plan.app, job: plan.job.name, on: connection),
            app: plan.app,
            exitCode: Int32(supersededCode),
            message: "superseded by another run of the job",
            isOver: true,
            on: connection
        )
    }
}
