import AppStoreModel
import ArgumentParser
import Basics
import FoundationEssentials
import Inbox
import JobFiles
import Ledger
import Pipeline
import Status

struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Compare the received notifications with Apple's notification history, by day and type.",
        discussion: """
            Use it every night after run, which reads the history. It sends nothing.

            A UTC day is compared once it is over and a run has read it, and again for
            eight days, until its result is final. If a received notification is not in the
            history, the next run reads its day again before it is reported, because some
            enter the history late; --final reports it at once.

            Exit codes: 0 every notification is accounted for; 2 a notification was
            answered with success and lost, or is not in the history; 75 a day is over and
            no run has read it: run the job, then reconcile again.

            JOB can be the job of a receiver alone, if another job of the app reads the whole
            notification history.

              storeledger run jobs/nightly-sync.yaml
              storeledger reconcile jobs/nightly-sync.yaml
              storeledger reconcile jobs/nightly-sync.yaml --final --json
              storeledger reconcile jobs/nightly-sync.yaml --metrics-file nightly.prom
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Report notifications that are not in the history at once, before the next run reads their day again.")
    var final = false

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    @OptionGroup var metrics: MetricsOptions

    func run() async throws {
        try await perform(job: job.path) {
            let files = try job.loadEach(.crawlOrReceiver)
            let crawls = files.compactMap { file -> JobFile? in
                guard case .crawl(let crawl) = file else { return nil }
                return crawl
            }
            if crawls.isEmpty, metrics.metricsFile != nil { throw ValidationError(MetricsOptions.noReceiverMetrics) }
            var results: [Reconciliation] = []
            var ending: (any Error)?
            do {
                try await job.forEach(files) { file in
                    let result = try await reconcile(file.app, in: try LedgerAddress(of: file).ledger(sessions: 2))
                    results.append(result)
                    if !json { ReconciliationText(result).lines.forEach(Console.result) }
                    try check(result, canRun: !crawls.isEmpty)
                }
            } catch {
                ending = error
            }
            if json, let first = results.first {
                Console.result(try files.count == 1 ? JSONOutput.document(first) : JSONOutput.document(results))
            }
            if let path = metrics.metricsFile, !results.isEmpty {
                var statuses: [JobStatus] = []
                for pipeline in try job.pipelines(of: crawls) {
                    if let status = try await pipeline.status() { statuses.append(status) }
                }
                let text = MetricsText(statuses, at: Date.now).text
                try MetricsFile.write(MetricsFile.processMetrics(at: path) + text, to: path)
            }
            if let ending { throw ending }
        }
    }

    /// - Throws: Exit code 2 or 75 for what the comparison has found.
    private func check(_ result: Reconciliation, canRun: Bool) throws {
        if result.hasFindings { throw ExitCode(ExitStatus.completeWithLosses.rawValue) }
        guard let first = result.notRead.first else { return }
        let remedy =
            canRun ? "run storeledger run JOB" : "run the app's job with notificationHistory and scope app"
        Console.message(
            namingJob(
                job.path,
                in: """
                    storeledger: no run has read Apple's history of \(first)\(Self.others(result.notRead)) yet; \
                    \(remedy), then reconcile again. A day before the job's first window needs an earlier \
                    notificationHistory.startDate and --restart
                    """
            )
        )
        throw ExitCode(ExitStatus.workLeft.rawValue)
    }

    /// Compares what the receiver stored with the history that runs have read; sends nothing.
    private func reconcile(_ app: JobFile.App, in ledger: Ledger) async throws -> Reconciliation {
        try await ledger.openToWrite()
        let (bundleId, environment) = (app.bundleId, app.environment)
        guard let known = try await ledger.knownApp(bundleId: bundleId, environment: environment.rawValue) else {
            throw NothingReceived()
        }
        return try await ledger.reconcile(
            app: known,
            bundleId: bundleId,
            environment: environment,
            isFinal: final,
            now: try await ledger.now()
        )
    }

    private static func others(_ days: [String]) -> String {
        days.count == 1 ? "" : " and \(counted(days.count - 1, "other day"))"
    }
}
