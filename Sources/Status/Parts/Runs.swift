import Basics
import Ledger
import Postgres

extension JobStatus {
    /// The last five runs, newest first, and who works on the last one.
    struct Runs: StatusPart {
        let runs: [Run]
        /// `nil` if no process works on the last run.
        let activity: Activity?

        static let title = "runs"
        static let words: KeyValuePairs = ["message": "messages"]
        static let tables = ["runs"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let activity = try Activity.read(context, connection)
            var runs = try runs(context, isRunning: activity != nil, connection)
            // A process writes the counts of its run when it ends; until then, the run's items have them.
            let seesCounts = context.readable.contains("runs", "crawl_items", "coverage_gaps")
            if seesCounts, let last = runs.first, last.finishedAt == nil {
                runs[0].setCounts(try Ledger.count(last.run, app: context.app.id, job: context.job, on: connection))
            }
            return Self(runs: runs, activity: activity)
        }

        private static func runs(
            _ context: StatusContext,
            isRunning: Bool,
            _ connection: borrowing PostgresConnection
        ) throws -> [Run] {
            // Analysts see no messages, because these can quote records.
            let runs = context.readable.first(of: "runs", "masked_runs")
            return try connection.values(
                """
                SELECT run_id AS run, \(Ledger.moment("started_at")) AS started_at, \(Ledger.moment("finished_at")) AS finished_at,
                       exit_code, \(runs == "runs" ? "message" : "NULL::text AS message"), pages, requests, rows_new,
                       rows_updated, rows_unchanged, records_rejected, items_failed, gaps, records_withheld,
                       withheld_ids AS ids_withheld, empty_lists, unreadable_receipts, server, trusted_roots,
                       CASE WHEN finished_at IS NOT NULL AND exit_code = \(Ledger.supersededCode) THEN 'superseded'
                            WHEN finished_at IS NOT NULL THEN 'finished'
                            WHEN $3::boolean THEN 'running' ELSE 'unfinished' END AS state
                  FROM \(runs) WHERE app_id = $1 AND job = $2 ORDER BY run_id DESC LIMIT 5
                """,
                context.jobKey + [.boolean(isRunning)]
            )
        }

        func lines(in status: JobStatus) -> [String] { runs.flatMap { $0.lines(activity) } }
    }

    package var runs: [Run] { self[Runs.self]?.runs ?? [] }

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

    package struct Run: Codable, Sendable, Equatable {
        package let run: Int64
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
        /// Rows of an ID list whose receipt is damaged or has no transaction ID.
        package let unreadableReceipts: Int64
        /// The server at the start of the run; `nil` for runs of earlier versions.
        package let server: String?
        /// SHA-256 of each trusted root at the start of the run; `nil` for runs of earlier versions.
        package let trustedRoots: [String]?

        fileprivate mutating func setCounts(_ summary: RunSummary) {
            pages = summary.pages
            requests = summary.requests
            rowsNew = summary.rowsNew
            rowsUpdated = summary.rowsUpdated
            rowsUnchanged = summary.rowsUnchanged
            recordsRejected = summary.recordsRejected
            itemsFailed = summary.itemsFailed
            gaps = summary.gaps
            recordsWithheld = summary.recordsWithheld
        }

        fileprivate func lines(_ activity: Activity?) -> [String] {
            [
                "  run \(run): started \(startedAt), \(end(activity))",
                state == .running ? activity?.line : nil,
                "    \(counted(pages, "page")) from \(counted(requests, "request")), \(rowsNew) new, \(rowsUpdated) updated, "
                    + "\(rowsUnchanged) unchanged, \(recordsRejected) rejected, \(itemsFailed) failed, \(counted(gaps, "gap"))",
                rehearsal,
                emptyLists > 0 ? "    \(counted(emptyLists, "ID list")) had no ID" : nil,
                unreadableReceipts > 0 ? "    \(counted(unreadableReceipts, "listed receipt")) could not be read" : nil,
                recordsWithheld + idsWithheld > 0
                    ? "    withheld: \(counted(recordsWithheld, "record")) and \(counted(idsWithheld, "listed ID")) of erased customers"
                    : nil,
            ].compactMap(\.self)
        }

        private func end(_ activity: Activity?) -> String {
            let code = exitCode.map { ", exit \($0)" } ?? ""
            let message = message.map { ": \($0)" } ?? ""
            let when = finishedAt ?? ""
            switch state {
            // Exit code and message are not shown, because an earlier process wrote them.
            case .running: return "running\(activity?.places ?? "")"
            case .unfinished: return "unfinished\(code)\(message)"
            case .finished: return "finished \(when)\(code)\(message)"
            case .superseded: return "superseded \(when)"
            }
        }

        /// The server and the roots of a run that trusted others than Apple's roots.
        private var rehearsal: String? {
            guard let server, let trustedRoots, !RecordOrigin(server: "", trustedRoots: trustedRoots).isApple else {
                return nil
            }
            let roots = trustedRoots.map { $0.prefix(16) + "…" }.joined(separator: " and ")
            return "    rehearsal: \(server), under root \(roots)"
        }
    }
}
