import ArgumentParser
import Basics
import FoundationEssentials
import Glibc
import JobPlan
import Ledger
import Pipeline

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a job: runs, items, failures, rejected records, gaps, used limits.",
        discussion: """
            Reads only PostgreSQL, so it works on any machine, whether or not the job is
            running. Without JOB: every job of every app in the ledger of --database or
            DATABASE_URL, or of the app that --app names. Parts that the role may not
            read are left out, and the output lists them. For the job of a receiver alone:
            what was received, what is not a record yet, and what was refused.

              storeledger status jobs/nightly-sync.yaml
              storeledger status jobs/nightly-sync.yaml --json
              storeledger status jobs/nightly-sync.yaml --watch
              storeledger status receiver.yaml
              storeledger status --metrics-file /var/lib/node_exporter/storeledger.prom
              storeledger status
              storeledger status --database postgresql:///ledger --app com.example.game
            """
    )

    @OptionGroup var place: AppArgument

    @Flag(help: "Write one JSON document to stdout; without JOB, an array.")
    var json = false

    @Flag(help: "Repeat every two seconds until interrupted; with --json, one document per line.")
    var watch = false

    @OptionGroup var metrics: MetricsOptions

    func run() async throws {
        try await perform(job: place.ledger.path, endsBySignal: watch) {
            // Created once, so that warnings of the job file appear once and connections are reused.
            let receiver = try receiver()
            let source = receiver == nil ? try place.source() : nil
            repeat {
                let shown: (statuses: [JobStatus], lines: [String]) =
                    if let source { try await read(source) } else { ([], try await lines(of: receiver)) }
                if let metricsFile = metrics.metricsFile {
                    let metrics = MetricsText(shown.statuses, at: Date.now).text
                    try MetricsFile.write(MetricsFile.exitMetrics(at: metricsFile) + metrics, to: metricsFile)
                }
                // A terminal shows only the latest status.
                if watch, !json, Terminal.isCapable(STDOUT_FILENO) {
                    Console.result("\u{1B}[H\u{1B}[2J" + Date.now.ISO8601Format())
                }
                shown.lines.forEach(Console.result)
                guard watch, !Console.isClosed else { return }
            } while await pause()
        }
    }

    /// Waits two seconds.
    ///
    /// - Returns: Whether to continue; `false` after SIGINT or SIGTERM, which end watching.
    private func pause() async -> Bool {
        (try? await Task.sleep(for: .seconds(2))) != nil
    }

    /// The pipeline of a receiver's own job; `nil` for other jobs and without one.
    private func receiver() throws -> ReceiverPipeline? {
        guard let path = place.ledger.path else { return nil }
        var job = JobArgument()
        job.path = path
        let receiver = try job.receiverPipeline()
        if receiver != nil, metrics.metricsFile != nil { throw ValidationError(MetricsOptions.noReceiverMetrics) }
        return receiver
    }

    private func lines(of receiver: ReceiverPipeline?) async throws -> [String] {
        guard let receiver else { return [] }
        let status = try await receiver.status()
        return json ? [try text(of: status)] : ReceiverStatusText(status, jobFile: place.ledger.path).lines
    }

    private func read(_ source: AppArgument.Source) async throws -> (statuses: [JobStatus], lines: [String]) {
        switch source {
        case .ledger(let reader):
            let statuses = try await reader.statuses(of: try await place.apps(in: reader), job: place.jobName)
            if json { return (statuses, [try text(of: statuses)]) }
            let lines = statuses.flatMap { StatusText(status: $0, jobFile: nil).lines }
            return (statuses, statuses.isEmpty ? ["no job has ever run"] : lines)
        case .job(let pipeline):
            guard let status = try await pipeline.status() else {
                return ([], [json ? "null" : "\(pipeline.job.name) has never run"])
            }
            let lines = StatusText(status: status, jobFile: place.ledger.path).lines
            return ([status], json ? [try text(of: status)] : lines)
        }
    }

    private func text(of value: some Encodable) throws -> String {
        watch ? try JSONOutput.line(value) : try JSONOutput.document(value)
    }
}

/// The plain text output of `status`.
struct StatusText {
    let status: JobStatus
    /// The path of the job file, for commands in the text; `nil` without one.
    let jobFile: String?

    var lines: [String] { linesWithPlaceholder.map { namingJob(jobFile, in: $0) } }

    /// The lines with `JOB` in place of the job file.
    private var linesWithPlaceholder: [String] {
        var lines = ["\(status.job): \(status.app) (\(status.environment))"]
        if let replica = status.replica {
            lines.append("  read from a replica, which has all changes until \(replica.appliedUntil)")
        }
        for run in status.runs {
            lines.append("  run \(run.run): started \(run.startedAt), \(end(of: run))")
            if run.state == .running, let activity = status.activity { lines.append(speed(activity)) }
            lines.append(
                "    \(counted(run.pages, "page")) from \(counted(run.requests, "request")), \(run.rowsNew) new, "
                    + "\(run.rowsUpdated) updated, \(run.rowsUnchanged) unchanged, \(run.recordsRejected) rejected, "
                    + "\(run.itemsFailed) failed, \(counted(run.gaps, "gap"))"
            )
            if let server = run.server, let roots = run.trustedRoots, !run.isOfApple {
                lines.append(
                    "    rehearsal: \(server), under root \(roots.map { $0.prefix(16) + "…" }.joined(separator: " and "))"
                )
            }
            if run.emptyLists > 0 { lines.append("    \(counted(run.emptyLists, "ID list")) had no ID") }
            if run.recordsWithheld + run.idsWithheld > 0 {
                lines.append(
                    "    withheld: \(counted(run.recordsWithheld, "record")) and \(counted(run.idsWithheld, "listed ID")) "
                        + "of erased customers"
                )
            }
        }
        lines.append("  items of the last run")
        for item in status.items {
            lines.append(
                "    \(item.stream): \(item.done) done, \(item.waiting) waiting, \(item.leased) in progress, \(item.failed) failed"
            )
        }
        lines += failures
        for reject in status.rejected {
            let example = reject.detail.map { ", such as: \($0)" } ?? ""
            lines.append("  rejected: \(reject.records) for \(reject.reason)\(example)")
        }
        for gap in status.gaps {
            lines.append("  gap: \(gap.stream) \(itemName(gap.item)) from \(gap.from) to \(gap.to): \(gap.reason)")
        }
        if let since = status.customersSince {
            lines.append("  \(missingCustomers(since: since, list: status.largestList))")
        }
        if let late = status.late {
            lines.append(
                "  late: \(counted(late.notifications, "notification")) found only by the second reading of the day; "
                    + "\(late.inRun) in run \(late.run), such as \(late.example), signed \(late.signedAt)"
            )
        }
        if let facts = status.leftOutFacts {
            lines.append(
                "  left out: the newest signatures of \(counted(facts.records, "record")) lack \(facts.fields.joined(separator: ", ")), "
                    + "such as \(facts.example); known values are kept. To request the records again, see "
                    + "docs/troubleshooting.md#fields-that-apple-left-out"
            )
        }
        if let unpriced = status.withoutPrice {
            lines.append(
                "  without a price: \(counted(unpriced.transactions, "transaction")), such as \(unpriced.example); they add nothing to "
                    + "revenue. To request them again, see docs/troubleshooting.md#fields-that-apple-left-out"
            )
        }
        if let receiver = status.receiver { lines += Self.lines(of: receiver) }
        for budget in status.budget {
            let closed = budget.closedUntil.map { ", refused by Apple until \($0) (429)" } ?? ""
            let next = budget.opensAt.map { ", the next one is possible at \($0)" } ?? ""
            let opens = budget.closedUntil == nil ? next : ""
            let requests = counted(budget.lastHour, "request")
            lines.append(
                "  used: \(budget.endpoint): \(requests) in the last hour by all jobs of the app, failed ones included\(closed)\(opens)"
            )
        }
        if let views = status.views { lines += Self.lines(of: views) }
        lines += ledgerLines
        if let notReadable = status.notReadable {
            let names = notReadable.map { Self.wordsForParts[$0] ?? $0 }
            lines.append("  not shown, because the role may not read it: \(names.joined(separator: ", "))")
        }
        return lines
    }

    /// The words of the text for ``JobStatus/notReadable``, which contains keys of the JSON.
    private static let wordsForParts = [
        "message": "messages", "failures": "failed items", "unknownIds": "unknown IDs", "retryable": "items to retry",
        "oldestUnfinished": "oldest unfinished item", "budget": "spent limits", "certificates": "certificates",
        "removable": "records that retention would remove", "receiver": "received notifications",
        "leftOutFacts": "fields that Apple left out", "withoutPrice": "transactions without a price",
        "views": "age of the views",
    ]

    private static func lines(of views: JobStatus.Views) -> [String] {
        let age = views.refreshedAt.map { "as of \($0)" } ?? "not computed yet"
        guard let since = views.failedSince else { return ["  views: \(age)"] }
        return [
            "  views: \(age); every refresh since \(since) has failed\(views.message.map { ": \($0)" } ?? "")",
            "    storeledger refresh JOB refreshes them",
        ]
    }

    static func lines(of receiver: JobStatus.Receiver) -> [String] {
        var lines = ["  received: the last notification at \(receiver.lastReceivedAt)"]
        if let median = receiver.medianSecondsToRow, let worst = receiver.worstSecondsToRow {
            lines.append(
                "    \(counted(receiver.storedLastDay, "notification")) of the last day; from Apple's signature to the row: median "
                    + "\(median) s, worst \(worst) s"
            )
        }
        guard let day = receiver.reconciledDay else {
            return lines + ["    not compared with Apple's history yet; run: storeledger reconcile JOB"]
        }
        let found = receiver.reconciled
        let counts = [
            (found.recovered, "recovered by the crawl"), (found.answeredButMissing, "answered but missing"),
            (found.toBeReadAgain, "to be read again"), (found.unexplained, "unexplained"),
            (found.unprovable, "unprovable"),
        ].filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
        let both = "\(found.receivedAndInHistory) received and in the history"
        return lines + ["    reconciled until \(day): \(both)\(counts)"]
    }

    private func end(of run: JobStatus.Run) -> String {
        let code = run.exitCode.map { ", exit \($0)" } ?? ""
        let message = run.message.map { ": \($0)" } ?? ""
        let when = run.finishedAt ?? ""
        switch run.state {
        case .running:
            // Exit code and message are not shown, because they are those of an earlier process.
            let processes = status.activity?.processes ?? []
            let places = processes.map { "\($0.host) (process \($0.processId))" }.joined(separator: ", ")
            return "running" + (places.isEmpty ? "" : " on \(places)")
        case .unfinished: return "unfinished\(code)\(message)"
        case .finished: return "finished \(when)\(code)\(message)"
        case .superseded: return "superseded \(when)"
        }
    }

    private func speed(_ activity: JobStatus.Activity) -> String {
        let requests = activity.requests.map { "\(counted($0, "request")) of all jobs of the app" }
        let counts = [activity.items.map { counted($0, "item") }, requests]
        let words = counts.compactMap(\.self).joined(separator: " and ")
        return "    in the last \(Duration.seconds(activity.seconds).inWords): "
            + (words.isEmpty ? "not readable by this role" : words)
    }

    /// The failed items of all runs, and how many of them a retry would request again.
    private var failures: [String] {
        guard !status.failures.isEmpty || status.unknownIds > 0 else { return [] }
        var lines = status.failures.map { failure in
            let code = failure.errorCode.map { " (\($0))" } ?? ""
            let run = failure.run == status.runs.first?.run ? "" : ", last requested in run \(failure.run)"
            return "  failed: \(failure.items) of \(failure.stream): \(failure.message)\(code), "
                + "such as \(itemName(failure.example))\(run)"
        }
        if status.unknownIds > 0 {
            let example = status.unknownIdExample.map { ", such as \($0)" } ?? ""
            lines += [
                "  unknown to Apple: \(counted(status.unknownIds, "ID"))\(example); to list them: storeledger failures JOB",
                "    remove wrong IDs from the list, or set sandboxFallback for testers",
                "    a job with changedSince requests them again only with: storeledger retry JOB",
            ]
        }
        switch status.retryable {
        case nil: break
        case 0:
            lines.append(
                "  retry: none of them can be retried, because the job has changed or Apple no longer serves them"
            )
        case let items?: lines.append("  retry: storeledger retry JOB requests \(counted(items, "failed item")) again")
        }
        return lines
    }

    /// Lines that do not belong to one run.
    private var ledgerLines: [String] {
        var lines: [String] = []
        if let oldest = status.oldestUnfinished {
            let until = oldest.completeUntil.map { "complete until \($0)" } ?? "not complete yet"
            let why = oldest.message.map { ": \($0)" } ?? ""
            let state =
                oldest.state == "leased"
                ? "in progress; if its process stops, another one takes it after \(oldest.claimableAt)"
                : "waiting, can be requested from \(oldest.claimableAt) on"
            lines.append("  oldest unfinished: \(oldest.stream) \(itemName(oldest.item)), \(until), \(state)\(why)")
        }
        if let certificates = status.certificates, certificates.chains > 0 {
            let newest = certificates.newestSince.map { ", the newest since \($0)" } ?? ""
            lines.append("  certificates: records are signed with \(counted(certificates.chains, "chain"))\(newest)")
        }
        let largest = status.storage.prefix(4).map { "\($0.table) \(sizeInWords($0.bytes))" }.joined(separator: ", ")
        if !status.storage.isEmpty {
            lines.append(
                "  storage: \(sizeInWords(status.storage.reduce(0) { $0 + $1.bytes })) in the schema: \(largest)"
            )
        }
        for old in status.removable ?? [] {
            lines.append("  retention would free: about \(old.inWords)")
        }
        return lines
    }
}
