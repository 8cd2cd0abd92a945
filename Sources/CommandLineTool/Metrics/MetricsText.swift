import FoundationEssentials
import Status

/// The state of jobs in Prometheus's text format.
///
/// Names end in their unit, moments are seconds since 1970, and all metrics are gauges. Source:
/// https://prometheus.io/docs/practices/naming/ and https://prometheus.io/docs/instrumenting/exposition_formats/.
struct MetricsText {
    private(set) var text = ""

    /// The metrics of ``LastExit``.
    static let exitMetrics = [
        "storeledger_last_exit_code", "storeledger_last_exit_timestamp_seconds", "storeledger_notify_delivered",
    ]

    /// The metric of ``ProgressMetrics``.
    static let progressMetric = "storeledger_run_progress_timestamp_seconds"

    /// Whether a line is a sample or a comment of one of these metrics.
    static func isLine(_ line: Substring, of names: [String]) -> Bool {
        names.contains { name in
            ["# HELP \(name) ", "# TYPE \(name) ", "\(name){", "\(name) "].contains(where: line.hasPrefix)
        }
    }

    /// The number of tables whose size is shown: the largest, because the others are small or internal.
    private static let tables = 10

    typealias Sample = (labels: [(String, String)], value: Double)

    /// - Parameters:
    ///   - statuses: The jobs as read from the ledger; `nil` if it could not be read.
    ///   - now: When they were read.
    ///   - exits: How the runs of a process ended, one for each app.
    init(_ statuses: [JobStatus]?, at now: Date, exits: [LastExit] = []) {
        add(exits)
        guard let statuses else { return }
        addPerJob(
            "storeledger_written_timestamp_seconds",
            "When the metrics of the job and of its app were read from the ledger.",
            statuses
        ) { _ in
            [([], now.timeIntervalSince1970.rounded(.down))]
        }
        addRuns(statuses)
        addItems(statuses)
        addApps(statuses)
        addReceiver(statuses)
        add(
            "storeledger_table_bytes",
            "Size of a table with its indexes; the ten largest.",
            (statuses.first?.storage ?? []).prefix(Self.tables).map { ([("table", $0.table)], Double($0.bytes)) }
        )
    }

    /// Only how a process ended, for a command line that could not be parsed.
    init(_ exit: LastExit) { add([exit]) }

    /// Only the last progress of the runs that go on, in seconds since 1970.
    init(progress samples: [Sample]) {
        add(
            Self.progressMetric,
            "When the run in progress last made progress, or until when it waits for a limit.",
            samples
        )
    }

    private mutating func add(_ exits: [LastExit]) {
        add(
            "storeledger_last_exit_code",
            "Exit code of the last process of run, retry or actions run; see docs/reference/exit-codes.md.",
            exits.map { ($0.labels, Double($0.code)) }
        )
        add(
            "storeledger_last_exit_timestamp_seconds",
            "When the last process of run, retry or actions run ended.",
            exits.map { ($0.labels, $0.moment.timeIntervalSince1970.rounded(.down)) }
        )
        add(
            "storeledger_notify_delivered",
            "1 if the webhook of the job file took the report of that exit, 0 if it did not.",
            exits.compactMap { exit in exit.isNotified.map { (exit.labels, $0 ? 1 : 0) } }
        )
    }

    /// Adds the metrics of each job's last runs.
    private mutating func addRuns(_ statuses: [JobStatus]) {
        addPerJob("storeledger_run_started_timestamp_seconds", "When the last run began.", statuses) { status in
            status.runs.first.flatMap { Self.seconds($0.startedAt) }.map { [([], $0)] } ?? []
        }
        addPerJob("storeledger_run_finished_timestamp_seconds", "When the last finished run ended.", statuses) {
            status in
            status.runs.lazy.compactMap(\.finishedAt).first.flatMap(Self.seconds).map { [([], $0)] } ?? []
        }
        addPerJob(
            "storeledger_run_complete_timestamp_seconds",
            "When a run last ended with exit code 0 or 2.",
            statuses
        ) {
            status in
            status.runs.first { $0.finishedAt != nil && [0, 2].contains($0.exitCode) }
                .flatMap { $0.finishedAt.flatMap(Self.seconds) }.map { [([], $0)] } ?? []
        }
        addPerJob("storeledger_run_exit_code", "Exit code of the last run; see docs/reference/exit-codes.md.", statuses)
        {
            status in
            status.runs.first?.exitCode.map { [([], Double($0))] } ?? []
        }
        addPerJob("storeledger_run_pages", "Pages committed by the last run.", statuses) { status in
            status.runs.first.map { [([], Double($0.pages))] } ?? []
        }
        addPerJob("storeledger_run_requests", "Requests sent by the last run.", statuses) { status in
            status.runs.first.map { [([], Double($0.requests))] } ?? []
        }
        addPerJob("storeledger_run_rows", "Records of the last run, by what they changed.", statuses) { status in
            status.runs.first.map { run in
                [
                    ([("change", "new")], Double(run.rowsNew)), ([("change", "updated")], Double(run.rowsUpdated)),
                    ([("change", "unchanged")], Double(run.rowsUnchanged)),
                ]
            } ?? []
        }
        addPerJob("storeledger_run_rejected_records", "Records that the last run could not load.", statuses) { status in
            status.runs.first.map { [([], Double($0.recordsRejected))] } ?? []
        }
    }

    /// Adds the metrics of each job's items and records.
    private mutating func addItems(_ statuses: [JobStatus]) {
        addPerJob("storeledger_items", "Items of the last run, by stream and state.", statuses) { status in
            status.items.flatMap { item in
                [("done", item.done), ("waiting", item.waiting), ("leased", item.leased), ("failed", item.failed)].map {
                    ([("stream", item.stream), ("state", $0.0)], Double($0.1))
                }
            }
        }
        addPerJob("storeledger_retryable_items", "Failed items of any run that a retry would request again.", statuses)
        {
            status in
            status.retryable.map { [([], Double($0))] } ?? []
        }
        addPerJob("storeledger_rejected_records", "Unresolved rejected records of the job, by reason.", statuses) {
            status in
            status.rejected.map { ([("reason", $0.reason)], Double($0.records)) }
        }
        addPerJob("storeledger_coverage_gaps", "Periods that Apple no longer serves, at most 20.", statuses) { status in
            [([], Double(status.gaps.count))]
        }
        addPerJob("storeledger_newest_gap_timestamp_seconds", "When a run last found a gap.", statuses) { status in
            status.newestGapFoundAt.flatMap(Self.seconds).map { [([], $0)] } ?? []
        }
    }

    /// Adds the metrics that the jobs of an app share.
    private mutating func addApps(_ statuses: [JobStatus]) {
        addPerApp("storeledger_requests_last_hour", "Requests granted in the last hour, by endpoint.", statuses) {
            status in
            status.budget.map { ([("endpoint", $0.endpoint)], Double($0.lastHour)) }
        }
        addPerApp(
            "storeledger_endpoint_opens_timestamp_seconds",
            "When the endpoint opens again after a 429; 0 when it is open.",
            statuses
        ) {
            status in
            status.budget.map { ([("endpoint", $0.endpoint)], $0.closedUntil.flatMap(Self.seconds) ?? 0) }
        }
        addPerApp(
            "storeledger_views_refreshed_timestamp_seconds",
            "The time of the ledger state that the views show; 0 before the first refresh.",
            statuses
        ) {
            status in
            status.views.map { [([], $0.refreshedAt.flatMap(Self.seconds) ?? 0)] } ?? []
        }
        addPerApp(
            "storeledger_views_failed_timestamp_seconds",
            "Since when every refresh of the views has failed; left out after a success.",
            statuses
        ) {
            status in
            status.views?.failedSince.flatMap(Self.seconds).map { [([], $0)] } ?? []
        }
        addPerApp(
            "storeledger_external_purchase_tokens_due",
            "Tokens of external purchases without a report whose deadline has passed or is within three days.",
            statuses
        ) {
            status in
            [([], Double(status.externalPurchases?.tokensDue ?? 0))]
        }
        addPerApp(
            "storeledger_certificate_chains",
            "Certificate chains of all records stored so far; an increase means that Apple has rotated a certificate.",
            statuses
        ) {
            status in
            status.certificates.map { [([], Double($0.chains))] } ?? []
        }
    }

    /// Adds the metrics of the receiver, which the jobs of an app share.
    private mutating func addReceiver(_ statuses: [JobStatus]) {
        addPerApp(
            "storeledger_receipt_seconds",
            "Time from Apple's signature to the row, of notifications received in the last day.",
            statuses
        ) {
            status in
            let receiver = status.receiver
            let times = [("0.5", receiver?.medianSecondsToRow), ("1", receiver?.worstSecondsToRow)]
            return times.compactMap { share, value in value.map { ([("quantile", share)], $0) } }
        }
        addPerApp("storeledger_last_received_timestamp_seconds", "When a notification was last received.", statuses) {
            status in
            status.receiver.flatMap { Self.seconds($0.lastReceivedAt) }.map { [([], $0)] } ?? []
        }
        addPerApp(
            "storeledger_reconciled_day_timestamp_seconds",
            "The beginning of the last day that was compared with Apple's notification history.",
            statuses
        ) {
            status in
            status.receiver?.reconciledDay.flatMap { Self.seconds($0 + "T00:00:00Z") }.map { [([], $0)] } ?? []
        }
        addPerApp(
            "storeledger_reconciled_notifications",
            "Notifications of the last nine days by what reconcile found.",
            statuses
        ) {
            status in
            status.receiver.map { receiver in
                let found = receiver.reconciled
                return [
                    ("received_and_in_history", found.receivedAndInHistory), ("recovered", found.recovered),
                    ("answered_but_missing", found.answeredButMissing), ("to_be_read_again", found.toBeReadAgain),
                    ("unexplained", found.unexplained), ("unprovable", found.unprovable),
                ].map { ([("result", $0.0)], Double($0.1)) }
            } ?? []
        }
    }

    /// Adds a metric of each job.
    private mutating func addPerJob(
        _ name: String,
        _ help: String,
        _ statuses: [JobStatus],
        _ samples: (JobStatus) -> [Sample]
    ) {
        add(
            name,
            help,
            statuses.flatMap { status in
                samples(status).map { (Self.app(status) + [("job_name", status.job)] + $0.labels, $0.value) }
            }
        )
    }

    /// Adds a metric that the jobs of an app share.
    private mutating func addPerApp(
        _ name: String,
        _ help: String,
        _ statuses: [JobStatus],
        _ samples: (JobStatus) -> [Sample]
    ) {
        var seen: Set<[String]> = []
        let firsts = statuses.filter { seen.insert([$0.app, $0.environment]).inserted }
        add(
            name,
            help,
            firsts.flatMap { status in samples(status).map { (Self.app(status) + $0.labels, $0.value) } }
        )
    }

    private static func app(_ status: JobStatus) -> [(String, String)] {
        [("app", status.app), ("environment", status.environment)]
    }

    /// Adds the samples of an older text about other apps, because `--app` chose one of several.
    ///
    /// - Parameters:
    ///   - old: In the format of ``text``.
    ///   - app: The bundle ID that was chosen.
    mutating func keep(_ old: String, exceptOf app: String) {
        let label = "app=\"\(Self.escaped(app))\""
        let kept = old.split(separator: "\n").filter { line in
            guard !line.hasPrefix("#"), let labels = line.split(separator: "{", maxSplits: 1).dropFirst().first else {
                return false
            }
            return labels.contains("app=\"") && !labels.contains(label)
        }
        var left = Dictionary(grouping: kept) { $0.prefix { $0 != "{" } }
        // The samples of a metric are one group.
        var groups: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# HELP ") { groups.append("") }
            groups[groups.count - 1] += line + "\n"
        }
        text = groups.map { group in
            let name = group.dropFirst("# HELP ".count).prefix { $0 != " " }
            return group + (left.removeValue(forKey: name) ?? []).map { $0 + "\n" }.joined()
        }.joined()
        for (name, lines) in left.sorted(by: { $0.key < $1.key }) {
            let comments = old.split(separator: "\n").filter { line in
                ["# HELP \(name) ", "# TYPE \(name) "].contains(where: line.hasPrefix)
            }
            text += (comments + lines).map { $0 + "\n" }.joined()
        }
    }

    mutating func add(_ name: String, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
            let value = Int64(exactly: sample.value).map { String($0) } ?? "\(sample.value)"
            text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// The seconds since 1970 of a moment in the notation of `status`.
    private static func seconds(_ moment: String) -> Double? {
        (try? Date(moment, strategy: .iso8601))?.timeIntervalSince1970
    }
}
