import AppStoreModel
import ArgumentParser
import Basics
import FoundationEssentials
import JobPlan
import Ledger
import Pipeline

struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Compare the received notifications with Apple's notification history, by day and type.",
        discussion: """
            Use it every night after run, which reads the history. It sends nothing.

            A day in UTC is compared when it is over and a run has read it, until its
            result cannot change any more: eight days. A notification that was received and
            is not in the history is read again by the next run before it is reported,
            because some enter the history late; --final reports it at once.

            Exit codes: 0 every notification is accounted for; 2 a notification was
            answered with success and lost, or is not in the history; 75 a day is over and
            no run has read it: run the job, then reconcile again.

            The job of a receiver alone will do too: any job of the app whose run reads the
            whole notification history can have read it.

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
            let file = try job.load(.crawlOrReceiver)
            var pipeline: Pipeline?
            if case .crawl(let crawl) = file { pipeline = try job.pipeline(of: crawl) }
            if pipeline == nil, metrics.metricsFile != nil { throw ValidationError(MetricsOptions.noReceiverMetrics) }
            let result = try await reconcile(file.app, in: try LedgerAddress(of: file).ledger(sessions: 2))
            if json {
                Console.result(try JSONOutput.document(result))
            } else {
                ReconciliationText(result).lines.forEach(Console.result)
            }
            if let pipeline, let path = metrics.metricsFile {
                let text = MetricsText(try await pipeline.status().map { [$0] } ?? [], at: Date.now).text
                try MetricsFile.write(MetricsFile.exitMetrics(at: path) + text, to: path)
            }
            if result.hasFindings { throw ExitCode(ExitStatus.completeWithLosses.rawValue) }
            if let first = result.notRead.first {
                let remedy =
                    pipeline == nil
                    ? "run the app's job with notificationHistory and scope app" : "run storeledger run JOB"
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
        }
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
