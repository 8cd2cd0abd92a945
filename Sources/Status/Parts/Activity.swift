import Basics
import Ledger
import Postgres

extension JobStatus {
    /// Who works on the last run, and how fast.
    struct Activity: Codable {
        /// One process; `storeledger run` on one host.
        struct Process: Codable {
            let host: String
            let processId: Int64
            let startedAt: String
            let seenAt: String
        }

        /// By host and process.
        ///
        /// Empty if only leases show that a process of an earlier version works on the run.
        let processes: [Process]
        /// The time over which ``items`` and ``requests`` are counted: five minutes, or less in a young run.
        let seconds: Int64
        /// Items that reached their end in this time; `nil` for a role without the privilege to read them.
        let items: Int64?
        /// Requests granted in this time, to all jobs and machines of the app; `nil` as ``items``.
        let requests: Int64?

        /// - Returns: `nil` if no process works on the job's last run.
        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let seesItems = context.readable.contains("crawl_items")
            let ofRun = "FROM crawl_items WHERE app_id = $1 AND job = $2 AND run_id = last.run_id"
            let items = """
                (SELECT count(*) \(ofRun) AND state IN ('done', 'failed')
                    AND finished_at > clock_timestamp() - last.seconds * interval '1 second')
                """
            let isLeased = "EXISTS (SELECT \(ofRun) AND state = 'leased' AND claimable_at > clock_timestamp())"
            // A bucket is found by the second in which it begins, so the one that the period begins in counts, too.
            let requests = """
                (SELECT coalesce(sum(granted), 0)::bigint FROM rate_buckets WHERE app_id = $1
                    AND bucket >= date_trunc('second', clock_timestamp()) - (last.seconds + 1) * interval '1 second')
                """
            return try connection.value(
                """
                SELECT processes, seconds, \(seesItems ? items : "NULL::bigint") AS items,
                       \(context.readable.contains("rate_buckets") ? requests : "NULL::bigint") AS requests
                  FROM (SELECT run_id, least(300, greatest(1, ceil(extract(epoch FROM clock_timestamp() - started_at))))::bigint AS seconds
                          FROM \(context.readable.first(of: "runs", "masked_runs"))
                         WHERE app_id = $1 AND job = $2 AND finished_at IS NULL) last,
                       LATERAL (\(processes(context.readable))) p
                 WHERE json_array_length(processes) > 0 OR \(seesItems ? isLeased : "false")
                """,
                context.jobKey
            )
        }

        private static func processes(_ readable: Readable) -> String {
            let table = readable.first(of: "run_processes", "masked_run_processes")
            guard readable.contains(table) else { return "SELECT '[]'::json AS processes" }
            return """
                SELECT coalesce(json_agg(json_build_object(
                           'host', host, 'process_id', process_id,
                           'started_at', \(Ledger.moment("started_at")), 'seen_at', \(Ledger.moment("seen_at"))
                       ) ORDER BY host, process_id), '[]') AS processes
                  FROM \(table)
                 WHERE app_id = $1 AND run_id = last.run_id AND ended_at IS NULL AND seen_at > clock_timestamp() - \(Ledger.presence)
                """
        }

        /// Where the processes are, to follow `running`.
        var places: String {
            let places = processes.map { "\($0.host) (process \($0.processId))" }.joined(separator: ", ")
            return places.isEmpty ? "" : " on \(places)"
        }

        /// The line of the text that tells how fast the run is.
        var line: String {
            let requests = requests.map { "\(counted($0, "request")) of all jobs of the app" }
            let words = [items.map { counted($0, "item") }, requests].compactMap(\.self).joined(separator: " and ")
            return "    in the last \(Duration.seconds(seconds).inWords): "
                + (words.isEmpty ? "not readable by this role" : words)
        }
    }
}
