import LedgerSchema
import Postgres

extension JobStatus {
    /// What a run does, or how it ended.
    package enum RunState: String, Codable, Sendable {
        /// A process works on it.
        case running
        /// Work is left, and no process works on it.
        case unfinished
        /// Every item has reached its end.
        case finished
        /// Another run of the job has replaced it.
        case superseded
    }

    /// Who works on the last run, and how fast.
    package struct Activity: Codable, Sendable, Equatable {
        /// One process; `storeledger run` on one host.
        package struct Process: Codable, Sendable, Equatable {
            package let host: String
            package let processId: Int64
            package let startedAt: String
            package let seenAt: String
        }

        /// By host and process.
        ///
        /// Empty if only leases show that a process of an earlier version works on the run.
        package let processes: [Process]
        /// The time over which ``items`` and ``requests`` are counted: five minutes, or less in a young run.
        package let seconds: Int64
        /// Items that reached their end in this time; `nil` for a role without the privilege to read them.
        package let items: Int64?
        /// Requests granted in this time, to all jobs and machines of the app; `nil` as ``items``.
        package let requests: Int64?
    }
}

extension Ledger {
    /// How long after its last report a process counts as working.
    ///
    /// A process reports four times in this time; a lease lasts as long.
    static let presence = "interval '60 seconds'"

    /// - Returns: `nil` if no process works on the job's last run.
    static func activity(
        _ key: [Cell],
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> JobStatus.Activity? {
        let runs = readable.first(of: "runs", "masked_runs")
        let last = try connection.run(
            """
            SELECT run_id, least(300, greatest(1, ceil(extract(epoch FROM clock_timestamp() - started_at))))::bigint AS seconds
              FROM \(runs) WHERE app_id = $1 AND job = $2 AND finished_at IS NULL
            """,
            key
        ).first.map { (run: try $0.int64("run_id"), seconds: try $0.int64("seconds")) }
        guard let last else { return nil }
        let parameters = [key[0], .bigint(last.run)]
        let table = readable.first(of: "run_processes", "masked_run_processes")
        let processes =
            !readable.contains(table)
            ? []
            : try connection.run(
                """
                SELECT host, process_id, \(moment("started_at")) AS started, \(moment("seen_at")) AS seen FROM \(table)
                 WHERE app_id = $1 AND run_id = $2 AND ended_at IS NULL AND seen_at > clock_timestamp() - \(presence)
                 ORDER BY host, process_id
                """,
                parameters
            ).map { row in
                JobStatus.Activity.Process(
                    host: try row.text("host"),
                    processId: try row.int64("process_id"),
                    startedAt: try row.text("started"),
                    seenAt: try row.text("seen")
                )
            }
        let seesItems = readable.contains("crawl_items")
        let hasLease = seesItems ? try hasLease(key, last.run, connection) : false
        guard !processes.isEmpty || hasLease else { return nil }
        let since: Cell = .bigint(last.seconds)
        let items =
            !seesItems
            ? nil
            : try connection.run(
                """
                SELECT count(*) AS items FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND run_id = $3 AND state IN ('done', 'failed')
                   AND finished_at > clock_timestamp() - $4::bigint * interval '1 second'
                """,
                key + [.bigint(last.run), since]
            )[0].int64("items")
        // A bucket is found by the second in which it begins, so the one that the period begins in counts, too.
        let requests =
            !readable.contains("rate_buckets")
            ? nil
            : try connection.run(
                """
                SELECT coalesce(sum(granted), 0)::bigint AS requests FROM rate_buckets
                 WHERE app_id = $1
                   AND bucket >= date_trunc('second', clock_timestamp()) - ($2::bigint + 1) * interval '1 second'
                """,
                [key[0], since]
            )[0].int64("requests")
        return JobStatus.Activity(processes: processes, seconds: last.seconds, items: items, requests: requests)
    }

    /// Whether a process holds an item of the run.
    private static func hasLease(
        _ key: [Cell],
        _ run: Int64,
        _ connection: borrowing PostgresConnection
    ) throws -> Bool {
        try connection.run(
            """
            SELECT EXISTS (SELECT FROM crawl_items
                            WHERE app_id = $1 AND job = $2 AND run_id = $3 AND state = 'leased'
                              AND claimable_at > clock_timestamp()) AS leased
            """,
            key + [.bigint(run)]
        )[0].bool("leased")
    }
}
