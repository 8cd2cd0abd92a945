import AppStoreModel
import JobPlan
package import LedgerSchema
import Postgres

/// The status of one job; its JSON form is stable and documented in `docs/reference/json.md`.
package struct JobStatus: Codable, Sendable, Equatable {
    package struct Run: Codable, Sendable, Equatable {
        package let run: Int64
        /// What the run does, or how it ended.
        package let state: RunState
        package let startedAt: String
        package let finishedAt: String?
        package let exitCode: Int64?
        package let message: String?
        package private(set) var pages: Int64
        package private(set) var requests: Int64
        package private(set) var rowsNew: Int64
        package private(set) var rowsUpdated: Int64
        package private(set) var rowsUnchanged: Int64
        package private(set) var recordsRejected: Int64
        package private(set) var itemsFailed: Int64
        package private(set) var gaps: Int64
        /// Records of erased customers that were not stored.
        package private(set) var recordsWithheld: Int64
        /// Listed IDs of erased customers that were not requested.
        package let idsWithheld: Int64
        /// ID lists of the job that had no ID.
        package let emptyLists: Int64
        /// The server at the start of the run; `nil` for runs of earlier versions.
        package let server: String?
        /// SHA-256 of each trusted root at the start of the run; `nil` for runs of earlier versions.
        package let trustedRoots: [String]?

        /// Whether the run trusted only Apple's roots, as far as is known.
        package var isOfApple: Bool { RecordOrigin(server: "", trustedRoots: trustedRoots ?? []).isApple }

        /// The run with the counts of its items so far.
        func counted(_ summary: RunSummary) -> Self {
            var run = self
            run.pages = summary.pages
            run.requests = summary.requests
            run.rowsNew = summary.rowsNew
            run.rowsUpdated = summary.rowsUpdated
            run.rowsUnchanged = summary.rowsUnchanged
            run.recordsRejected = summary.recordsRejected
            run.itemsFailed = summary.itemsFailed
            run.gaps = summary.gaps
            run.recordsWithheld = summary.recordsWithheld
            return run
        }
    }

    package struct StreamItems: Codable, Sendable, Equatable {
        package let stream: String
        package let done: Int64
        package let waiting: Int64
        package let leased: Int64
        package let failed: Int64
    }

    /// Items that failed with the same error and have not been complete since.
    package struct Failure: Codable, Sendable, Equatable {
        package let stream: String
        package let errorCode: Int64?
        package let message: String
        package let items: Int64
        /// One of them.
        package let example: String
        /// The last run that requested one of them.
        package let run: Int64
    }

    package struct Reject: Codable, Sendable, Equatable {
        package let reason: String
        package let records: Int64
        /// What was found in one of them; `nil` for a role without the privilege to read it.
        package let detail: String?
    }

    package struct Gap: Codable, Sendable, Equatable {
        package let stream: String
        package let item: String
        package let from: String
        package let to: String
        package let reason: String
    }

    package struct Budget: Codable, Sendable, Equatable {
        package let endpoint: String
        /// Requests granted in the last hour, by every job and machine.
        package let lastHour: Int64
        /// Apple answered 429, and no process sends requests before this moment.
        package let closedUntil: String?
        /// When the next request may be sent; `nil` for at once.
        package let opensAt: String?
    }

    /// Notifications that were found only by the second reading of their day, because they entered Apple's history
    /// late.
    package struct Late: Codable, Sendable, Equatable {
        /// The number in all runs of the job.
        package let notifications: Int64
        /// The last run that found some.
        package let run: Int64
        /// The number that this run found.
        package let inRun: Int64
        /// The notificationUUID of one of them.
        package let example: String
        /// When Apple signed the example.
        package let signedAt: String
    }

    /// Records of the app whose newest signature leaves out facts that an earlier one has; see ``LedgerSchema/FieldIssue/leftOut``.
    package struct LeftOutFacts: Codable, Sendable, Equatable {
        package let records: Int64
        /// The fields, such as `price`, in alphabetical order.
        package let fields: [String]
        /// The key of one of the records.
        package let example: String
    }

    /// Transactions of the app that Apple has never signed with a price, without those of members of a family or group, who pay nothing.
    package struct WithoutPrice: Codable, Sendable, Equatable {
        package let transactions: Int64
        /// The `transactionId` of one of them.
        package let example: String
    }

    package let app: String
    package let environment: String
    package let job: String
    package let runs: [Run]
    package let items: [StreamItems]
    /// Failures of all runs, newest first, at most 20.
    package let failures: [Failure]
    /// The number of IDs that do not exist at Apple.
    ///
    /// They are not part of ``failures``. Only `retry` requests them again. With a job file, those that have left its list do
    /// not count.
    package let unknownIds: Int64
    /// One of them.
    package let unknownIdExample: String?
    /// The number of failed items that `retry` would request again; `nil` without a job file.
    package let retryable: Int64?
    package let rejected: [Reject]
    package let gaps: [Gap]
    /// When a run last found a gap; `nil` without gaps.
    package let newestGapFoundAt: String?
    /// `nil` if no notification was late.
    package let late: Late?
    /// `nil` if there are none.
    package let leftOutFacts: LeftOutFacts?
    /// `nil` if there are none.
    package let withoutPrice: WithoutPrice?
    /// `nil` if no notification was ever received.
    package let receiver: Receiver?
    package let budget: [Budget]
    /// `nil` for a role without the privilege to read it.
    package let views: Views?
    /// `nil` if every item is finished.
    package let oldestUnfinished: Oldest?
    /// `nil` for a role without the privilege to read them.
    package let certificates: Certificates?
    /// The tables of the whole schema, largest first.
    package let storage: [Storage]
    /// For a job that takes its customers from notifications: customers without a notification since this date are not
    /// found.
    ///
    /// A date such as `2026-05-27`; `nil` if a list of the app's runs was long enough, see ``CustomerSources/lacksList``.
    package let customersSince: String?
    /// Beside ``customersSince``: the number of IDs of the largest list of a complete run; `nil` without such a run.
    package let largestList: Int64?
    /// Who works on the last run, and how fast; `nil` if no process does.
    package let activity: Activity?
    /// What the job's `retention` would remove now, approximately; `nil` without a job file that has the section.
    package let removable: [OldRecords]?
    /// The replica that was read; `nil` on a primary.
    package let replica: Replica?
    /// The parts of this value that the role has no privilege to read; `nil` if there are none.
    package let notReadable: [String]?
}

extension Ledger {
    /// Reads the status of a job.
    ///
    /// It reads only the ledger, so it works on any machine, with or without a running job.
    ///
    /// - Parameters:
    ///   - job: The name of the job.
    ///   - app: The app of the job.
    ///   - bundleId: The bundle ID of the app.
    ///   - environment: The environment of the app.
    ///   - plan: The plan of the job file, to count the items that a retry would request; `nil` without a job file.
    /// - Returns: Empty lists for a job that has never run.
    /// - Throws: ``Postgres/PostgresError``.
    package func status(
        of job: String,
        app: AppID,
        bundleId: String,
        environment: String,
        plan: RunPlan? = nil
    ) async throws -> JobStatus {
        try await snapshot { connection, replica in
            let key: [Cell] = [.integer(app.rawValue), .text(job)]
            let readable = try Readable(connection)
            let sources = try Self.customerSources(key[0], readable, connection)
            let since = try Self.customersSince(key, sources, readable, connection)
            let seesItems = readable.contains("crawl_items")
            let seesBudget = readable.contains("rate_scopes", "rate_buckets")
            let unknown = seesItems ? try Self.unknownIDs(key, plan, connection) : UnknownIDs()
            let activity = try Self.activity(key, readable, connection)
            let certificates = try Self.certificates(key[0], connection)
            let seesReceiver = readable.contains("received_notifications", "notification_completeness_by_day")
            let seesIssues = readable.contains("field_issues")
            let seesPrices = readable.contains("transactions")
            let terms = plan?.job.retention.parts ?? []
            let seesArchive = readable.contains("signed_payloads", "latest_signatures", "crawl_items")
            let parts: [(name: String, isReadable: Bool)] = [
                ("message", readable.contains("runs")), ("failures", seesItems), ("unknownIds", seesItems),
                ("retryable", seesItems), ("oldestUnfinished", seesItems), ("budget", seesBudget),
                ("certificates", certificates != nil), ("receiver", seesReceiver), ("leftOutFacts", seesIssues),
                ("withoutPrice", seesPrices),
                ("removable", terms.isEmpty || seesArchive), ("views", readable.contains("view_freshness")),
            ]
            var runs = try Self.lastRuns(key, readable, isRunning: activity != nil, connection)
            // A process writes the counts of its run when it ends; until then, the run's items have them.
            if let last = runs.first, last.finishedAt == nil, readable.contains("runs", "crawl_items", "coverage_gaps")
            {
                runs[0] = last.counted(try Self.count(last.run, app: app, job: job, on: connection))
            }
            let notReadable = parts.filter { !$0.isReadable }.map(\.name)
            return JobStatus(
                app: bundleId,
                environment: environment,
                job: job,
                runs: runs,
                items: try Self.items(key, readable, connection),
                failures: seesItems ? try Self.failures(key, connection) : [],
                unknownIds: unknown.ids,
                unknownIdExample: unknown.example,
                retryable: seesItems ? try plan.map { try Self.countRetryable(by: $0, on: connection) } : nil,
                rejected: try Self.rejected(key, readable, connection),
                gaps: try Self.gaps(key, readable, connection),
                newestGapFoundAt: try Self.newestGap(key, readable, connection),
                late: try Self.late(key, readable, connection),
                leftOutFacts: seesIssues ? try Self.leftOutFacts(key[0], connection) : nil,
                withoutPrice: seesPrices ? try Self.withoutPrice(key[0], connection) : nil,
                receiver: seesReceiver ? try Self.receiver(key[0], connection) : nil,
                budget: seesBudget ? try Self.budget([key[0]], connection) : [],
                views: readable.contains("view_freshness") ? try Self.viewsStatus(readable, connection) : nil,
                oldestUnfinished: seesItems ? try Self.oldest(key, connection) : nil,
                certificates: certificates,
                storage: try Self.storage(connection),
                customersSince: since,
                largestList: since == nil || sources.largestList == 0 ? nil : sources.largestList,
                activity: activity,
                removable: terms.isEmpty || !seesArchive
                    ? nil
                    : try terms.map { part, term in
                        try Self.estimateOld(part, olderThan: term, job: job, app: app, connection)
                    },
                replica: replica,
                notReadable: notReadable.isEmpty ? nil : notReadable
            )
        }
    }

    static func moment(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }

    private static func lastRuns(
        _ key: [Cell],
        _ readable: Readable,
        isRunning: Bool,
        _ connection: borrowing PostgresConnection
    ) throws -> [JobStatus.Run] {
        // Analysts see no messages, because these can quote records.
        let runs = readable.first(of: "runs", "masked_runs")
        return try connection.run(
            """
            SELECT run_id, \(moment("started_at")) AS started, \(moment("finished_at")) AS finished, exit_code,
                   \(runs == "runs" ? "message" : "NULL::text AS message"), pages,
                   requests, rows_new, rows_updated, rows_unchanged, records_rejected, items_failed, gaps,
                   records_withheld, withheld_ids, empty_lists, server, array_to_string(trusted_roots, ',') AS roots,
                   CASE WHEN finished_at IS NOT NULL AND exit_code = \(supersededCode) THEN 'superseded'
                        WHEN finished_at IS NOT NULL THEN 'finished'
                        WHEN $3::boolean THEN 'running' ELSE 'unfinished' END AS state
              FROM \(runs) WHERE app_id = $1 AND job = $2 ORDER BY run_id DESC LIMIT 5
            """,
            key + [.boolean(isRunning)]
        ).map { row in
            JobStatus.Run(
                run: try row.int64("run_id"),
                state: JobStatus.RunState(rawValue: try row.text("state")) ?? .unfinished,
                startedAt: try row.text("started"),
                finishedAt: try row.textOrNil("finished"),
                exitCode: try row.int64OrNil("exit_code"),
                message: try row.textOrNil("message"),
                pages: try row.int64("pages"),
                requests: try row.int64("requests"),
                rowsNew: try row.int64("rows_new"),
                rowsUpdated: try row.int64("rows_updated"),
                rowsUnchanged: try row.int64("rows_unchanged"),
                recordsRejected: try row.int64("records_rejected"),
                itemsFailed: try row.int64("items_failed"),
                gaps: try row.int64("gaps"),
                recordsWithheld: try row.int64("records_withheld"),
                idsWithheld: try row.int64("withheld_ids"),
                emptyLists: try row.int64("empty_lists"),
                server: try row.textOrNil("server"),
                trustedRoots: try row.textOrNil("roots")?.split(separator: ",").map(String.init)
            )
        }
    }

    private static func items(
        _ key: [Cell],
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> [JobStatus.StreamItems] {
        let items = """
            SELECT stream, state, 1 AS items FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND run_id = (SELECT max(run_id) FROM runs WHERE app_id = $1 AND job = $2)
            """
        let view = "SELECT stream, state, items FROM crawl_items_by_state WHERE app_id = $1 AND job = $2"
        let sum = { (state: String) in
            "coalesce(sum(items) FILTER (WHERE state = '\(state)'), 0)::bigint AS \(state)"
        }
        return try connection.run(
            """
            SELECT stream, \(sum("done")), \(sum("waiting")), \(sum("leased")), \(sum("failed"))
              FROM (\(readable.contains("crawl_items") ? items : view)) items GROUP BY stream ORDER BY stream
            """,
            key
        ).map { row in
            JobStatus.StreamItems(
                stream: try row.text("stream"),
                done: try row.int64("done"),
                waiting: try row.int64("waiting"),
                leased: try row.int64("leased"),
                failed: try row.int64("failed")
            )
        }
    }

    private static func failures(
        _ key: [Cell],
        _ connection: borrowing PostgresConnection
    ) throws -> [JobStatus.Failure] {
        try connection.run(
            """
            SELECT stream, error_code, coalesce(error_message, '') AS message, count(*) AS items, min(item_key) AS example,
                   max(run_id) AS run
              FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND state = 'failed' AND coalesce(error_code, 0) <> ALL ($3::text[]::bigint[])
             GROUP BY stream, error_code, error_message ORDER BY run DESC, items DESC, stream LIMIT 20
            """,
            key + [.textArray(codesOfUnknownIDs)]
        ).map { row in
            JobStatus.Failure(
                stream: try row.text("stream"),
                errorCode: try row.int64OrNil("error_code"),
                message: try row.text("message"),
                items: try row.int64("items"),
                example: try row.text("example"),
                run: try row.int64("run")
            )
        }
    }

    private struct UnknownIDs {
        var ids: Int64 = 0
        var example: String?
    }

    private static func unknownIDs(
        _ key: [Cell],
        _ plan: RunPlan?,
        _ connection: borrowing PostgresConnection
    ) throws -> UnknownIDs {
        let row = try connection.run(
            """
            SELECT count(DISTINCT item_key) AS ids, min(item_key) AS example FROM crawl_items
             WHERE app_id = $1 AND job = $2 AND state = 'failed' AND error_code = ANY ($3::text[]::bigint[])
               AND NOT \(isUnknownAndUnlisted(streams: 4, codes: 3))
            """,
            key + [
                .textArray(codesOfUnknownIDs), .textArray(plan?.streamsOfWholeLists.map(\.rawValue) ?? []),
            ]
        )[0]
        return UnknownIDs(
            ids: try row.int64("ids"),
            example: try row.textOrNil("example")
        )
    }

    private static func rejected(
        _ key: [Cell],
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> [JobStatus.Reject] {
        let apps = readable.first(of: "apps", "masked_apps")
        let records =
            readable.contains("rejected_records")
            ? "SELECT app_id, job, reason, 1 AS records, detail FROM rejected_records WHERE resolved_at IS NULL AND dismissed_at IS NULL"
            : "SELECT app_id, job, reason, records, NULL::text AS detail FROM rejected_records_by_reason"
        return try connection.run(
            """
            SELECT reason, sum(records)::bigint AS records, min(detail) AS detail FROM (\(records)) rejected
             WHERE app_id IN (\(appsOfRejects(apps: apps, runs: readable.first(of: "runs", "masked_runs"))))
               AND job = $2
             GROUP BY reason ORDER BY 2 DESC, reason
            """,
            key
        ).map { row in
            JobStatus.Reject(
                reason: try row.text("reason"),
                records: try row.int64("records"),
                detail: try row.textOrNil("detail")
            )
        }
    }

    private static func gaps(
        _ key: [Cell],
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> [JobStatus.Gap] {
        let gaps = readable.first(of: "coverage_gaps", "masked_coverage_gaps")
        return try connection.run(
            """
            SELECT stream, item_key, \(moment("gap_start")) AS gap_from, \(moment("gap_end")) AS gap_to, reason
              FROM \(gaps) WHERE app_id = $1 AND job = $2 ORDER BY gap_start, item_key LIMIT 20
            """,
            key
        ).map { row in
            JobStatus.Gap(
                stream: try row.text("stream"),
                item: try row.text("item_key"),
                from: try row.text("gap_from"),
                to: try row.text("gap_to"),
                reason: try row.text("reason")
            )
        }
    }

    private static func newestGap(
        _ key: [Cell],
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> String? {
        let gaps = readable.first(of: "coverage_gaps", "masked_coverage_gaps")
        return try connection.run(
            "SELECT \(moment("max(found_at)")) AS found FROM \(gaps) WHERE app_id = $1 AND job = $2",
            key
        )[0].textOrNil("found")
    }

    private static func budget(_ key: [Cell], _ connection: borrowing PostgresConnection) throws -> [JobStatus.Budget] {
        try connection.run(
            """
            SELECT s.endpoint, coalesce(sum(b.granted) FILTER (WHERE b.bucket > clock_timestamp() - interval '1 hour'), 0) AS spent,
                   CASE WHEN s.closed_until > clock_timestamp() THEN \(moment("s.closed_until")) END AS closed,
                   CASE WHEN greatest(s.closed_until, s.next_at) > clock_timestamp() + interval '1 second'
                        THEN \(moment("greatest(s.closed_until, s.next_at)")) END AS opens
              FROM rate_scopes s LEFT JOIN rate_buckets b USING (app_id, endpoint)
             WHERE s.app_id = $1 GROUP BY s.app_id, s.endpoint ORDER BY s.endpoint
            """,
            key
        ).map { row in
            JobStatus.Budget(
                endpoint: try row.text("endpoint"),
                lastHour: try row.int64("spent"),
                closedUntil: try row.textOrNil("closed"),
                opensAt: try row.textOrNil("opens")
            )
        }
    }
}
