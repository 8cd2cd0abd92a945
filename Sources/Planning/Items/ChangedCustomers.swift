package import AppStoreModel
import Basics
import JobFiles
import JobSyntax
package import Ledger
import LedgerSchema
import Postgres
import Streams

/// The customers that a run with `changedSince` found in notifications.
package struct NamedCustomers: Sendable, Equatable {
    /// The number of planned customers.
    package let planned: Int64
    /// The number of erased customers.
    package let withheld: Int64
}

/// The customers that `changedSince` would find in the ledger now.
package struct ChangedSoFar: Sendable, Equatable {
    package let customers: Int64
    /// Until when an earlier run has followed notifications; `nil` if none has.
    package let followedUntil: UnixMilliseconds?
    /// Until when the job has requested notifications.
    package let notificationsUntil: UnixMilliseconds?
    /// The number of closed days (in UTC) that a run would read again now.
    ///
    /// These are days that are due for their second reading, and days of which the receiver has notifications that Apple's
    /// history did not list.
    package let daysToReadAgain: Int64
    /// The customers that the job's last run found in notifications; `nil` if no run followed an earlier one.
    ///
    /// The first run does not count: it finds the customers of all notifications that Apple keeps.
    package let customersOfLastRun: Int64?
    /// The run that the next start continues; `nil` if it begins a new one.
    package let unfinished: UnfinishedRun?
}

/// The planned work of a run that has not ended.
package struct UnfinishedRun: Sendable, Equatable {
    package let run: Int64
    /// The customers that the run found in notifications; `nil` before it has read them.
    package let customers: Int64?
    /// The items left, for each stream whose items are planned.
    package let left: [StreamName: Int64]
}

extension Ledger {
    /// Plans the histories of the customers in the app's notifications.
    ///
    /// Call it when the notifications are complete.
    ///
    /// Items are planned in batches, and the last transaction moves the run out of phase 0. Several processes can call
    /// it: planning an existing batch again changes nothing, and one process moves the run on. After a kill the run is
    /// still in phase 0, and the next call continues. The next run finds the customers of windows that failed.
    ///
    /// - Returns: The customers planned by this call; `nil` if another process moved the run on.
    /// - Throws: ``Postgres/PostgresError``.
    package func planChangedCustomers(_ plan: RunPlan, run: Int64) async throws -> NamedCustomers? {
        try await pages.withConnection { connection in
            let key: [Cell] = [.integer(plan.app.rawValue), .bigint(run)]
            let changed = ChangedCustomers(plan: plan)
            let parameters = try connection.transaction(.readCommitted) { connection -> KeyValuePairs<String, Cell>? in
                let isWaiting = try connection.run(
                    "SELECT FROM runs WHERE app_id = $1 AND run_id = $2 AND phase = 0 AND finished_at IS NULL",
                    key
                )
                guard isWaiting.count == 1 else { return nil }
                return changed.parameters(since: try changed.since(on: connection))
            }
            guard let parameters else { return nil }
            let staged = try StagedIDs.select(.changedCustomers, parameters, on: connection)
            crashPoint(.customersNamed)
            let planner = ItemPlanner(plan: plan)
            _ = try planner.noteFilters(of: plan.streamsOfIDs, on: connection)
            let withheld = try planner.planBatches(
                of: plan.streamsOfIDs,
                staged,
                run: run,
                inPhase: 0,
                on: connection
            )
            try StagedIDs.empty(on: connection)
            return try connection.transaction(.readCommitted) { connection in
                let moved = try connection.run(
                    .endNotifications,
                    [
                        "app": key[0],
                        "run": key[1],
                        "listed": .bigint(staged.count - withheld),
                        "withheld": .bigint(withheld),
                        "until": plan.changedSince == .lastRun ? .timestamp(plan.now.rawValue) : .null,
                        "job": .text(plan.job.name),
                        "oldest": .timestamp(plan.oldestNotification.rawValue),
                        "window_streams": .textArray(plan.streamsOfWindows.map(\.rawValue)),
                    ]
                )
                _ = try connection.run("SELECT analyze_crawl_items()")
                guard moved.affected == 1 else { return nil }
                return NamedCustomers(planned: staged.count - withheld, withheld: withheld)
            }
        }
    }

    /// Counts the customers that a run would request if no further notification arrived; writes nothing.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func changedSoFar(_ plan: RunPlan) async throws -> ChangedSoFar {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.defaultPlanner)
            let changed = ChangedCustomers(plan: plan)
            let since = try changed.since(on: connection)
            let row = try connection.run(
                "SELECT count(*) AS customers FROM (\(SQLStatement.changedCustomers.text)) AS named (item_key)",
                SQLStatement.changedCustomers.cells(changed.parameters(since: since))
            )[0]
            let windows = try connection.run(
                """
                SELECT max(window_end) AS until FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND stream = ANY ($3::text[])
                """,
                [.integer(plan.app.rawValue), .text(plan.job.name), .textArray(plan.streamsOfWindows.map(\.rawValue))]
            )[0]
            return ChangedSoFar(
                customers: try row.int64("customers"),
                followedUntil: try changed.followedUntil(on: connection),
                notificationsUntil: try windows.timestampOrNil("until").map(UnixMilliseconds.init(rawValue:)),
                daysToReadAgain: try changed.countDueDays(on: connection),
                customersOfLastRun: try changed.customersOfLastRun(on: connection),
                unfinished: try changed.unfinished(on: connection)
            )
        }
    }
}

/// Finds customers in the ledger's notifications whose histories have not been requested since.
///
/// The result depends only on committed rows: until when each customer's history is complete. So a customer who was
/// found but not requested, because a run was superseded, an item failed or a window was late, is found again.
struct ChangedCustomers {
    let plan: RunPlan

    /// How long after a notification's date a history must be read to certainly contain its transaction.
    ///
    /// This is a property of Apple's histories, so it is independent of the job's `overlap`. Otherwise a job with an
    /// overlap of days would request the same customers on each of these days.
    static let settlingTime = Duration.seconds(3_600)

    private var key: [Cell] { [.integer(plan.app.rawValue), .text(plan.job.name)] }

    /// See ``ChangedSoFar/daysToReadAgain``.
    func countDueDays(on connection: borrowing PostgresConnection) throws -> Int64 {
        var days: Int64 = 0
        for stream in plan.job.streams.all where stream.items == .windows {
            guard let dates = stream.dates else { continue }
            days += try WindowPlanner(plan: plan, stream: stream.name, dates: dates).countDueDays(on: connection)
        }
        return days
    }

    /// The earliest date of the notifications to read; `nil` for all in the ledger.
    func since(on connection: borrowing PostgresConnection) throws -> UnixMilliseconds? {
        guard let changedSince = plan.changedSince else {
            throw LedgerError.invariant("the job \(plan.job.name) does not follow notifications")
        }
        guard changedSince == .lastRun else { return changedSince.resolve(now: plan.now, lastRun: nil) }
        guard !plan.restart, let until = try followedUntil(on: connection) else { return nil }
        return until - Self.settlingTime
    }

    /// Until when earlier runs of the job have followed notifications without a gap.
    func followedUntil(on connection: borrowing PostgresConnection) throws -> UnixMilliseconds? {
        try connection.run("SELECT max(followed_until) AS until FROM runs WHERE app_id = $1 AND job = $2", key)[0]
            .timestampOrNil("until").map(UnixMilliseconds.init(rawValue:))
    }

    /// The customers that the job's last run found, if that run continued where an earlier one had ended.
    func customersOfLastRun(on connection: borrowing PostgresConnection) throws -> Int64? {
        let runs = try connection.run(
            "SELECT listed_ids FROM runs WHERE app_id = $1 AND job = $2 AND followed_until IS NOT NULL ORDER BY run_id DESC LIMIT 2",
            key
        )
        return runs.count == 2 ? try runs[0].int64("listed_ids") : nil
    }

    /// The job's unfinished run, if a run of the plan continues it and its first items are planned.
    func unfinished(on connection: borrowing PostgresConnection) throws -> UnfinishedRun? {
        guard let open = try OpenRun.find(plan, on: connection), open.isJoinable(plan), !open.isPlanning else {
            return nil
        }
        var streams = plan.streamsOfWindows + plan.streamsOfOwnLists
        if open.phase >= 1 { streams += plan.streamsOfIDs }
        if open.phase >= 2 { streams += plan.streamsOfLastPhase }
        let rows = try connection.run(
            .countItemsLeft,
            [
                "app": key[0],
                "job": key[1],
                "run": .bigint(open.run),
                "streams": .textArray(streams.map(\.rawValue)),
            ]
        )
        var left: [StreamName: Int64] = [:]
        for row in rows {
            left[StreamName(rawValue: try row.text("stream"))] = try row.int64("items")
        }
        let customers = try rows.first?.int64OrNil("customers")
        return UnfinishedRun(run: open.run, customers: open.phase >= 1 ? customers ?? 0 : nil, left: left)
    }

    /// Whether no customer's history was ever complete, so that customers without a notification are unknown.
    func hasNoHistory(on connection: borrowing PostgresConnection) throws -> Bool {
        try connection.run(
            """
            SELECT NOT EXISTS (SELECT FROM crawl_items WHERE app_id = $1 AND stream = ANY ($2::text[])
                                  AND complete_until IS NOT NULL AND item_key ~ '^[0-9]{1,20}$') AS no_history
            """,
            [key[0], .textArray(plan.streamsOfIDs.map(\.rawValue))]
        )[0].bool("no_history")
    }

    /// Messages for the user about customers that the run cannot find.
    func remarks(on since: DateExpression, _ connection: borrowing PostgresConnection) throws -> [String] {
        let days = plan.job.app.environment.notificationReach.components.seconds / 86_400
        if since == .lastRun {
            guard try hasNoHistory(on: connection) else { return [] }
            return [
                """
                no run has requested a customer yet: this run requests the customers mentioned in notifications of the last \
                \(days) days; customers without a notification in that time are not found. To add them, run a job with list, \
                csv or query once
                """
            ]
        }
        guard let moment = since.resolve(now: plan.now, lastRun: nil), moment < plan.oldestNotification else {
            return []
        }
        return [
            """
            Apple keeps notifications for \(days) days; earlier changes since changedSince are found only in notifications \
            that are already in the ledger
            """
        ]
    }

    /// The values of ``SQLStatement/changedCustomers``.
    func parameters(since: UnixMilliseconds?) -> KeyValuePairs<String, Cell> {
        let streams = plan.streamsOfIDs
        let moment: Cell = since.map { .timestamp($0.rawValue) } ?? .null
        return [
            "app": key[0],
            "job": key[1],
            "streams": .textArray(streams.map(\.rawValue)),
            "filters": .textArray(streams.map { plan.job.queryFingerprint(for: $0) }),
            "since": moment,
            "late_since": plan.changedSince == .lastRun ? moment : .null,
            // With a date or a restart, customers whose history was read since are requested again.
            "again": .boolean(plan.restart || plan.changedSince != .lastRun),
            "settling_milliseconds": .bigint(Self.settlingTime.wholeMilliseconds),
            "unknown_codes": .textArray(Ledger.codesOfUnknownIDs),
        ]
    }
}
