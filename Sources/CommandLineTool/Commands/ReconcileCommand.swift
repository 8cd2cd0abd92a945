import ArgumentParser
import Basics
import FoundationEssentials
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
            let receiver = try job.receiverPipeline()
            if receiver != nil, metrics.metricsFile != nil { throw ValidationError(MetricsOptions.noReceiverMetrics) }
            let pipeline = receiver == nil ? try job.pipeline() : nil
            let result: Reconciliation? =
                if let pipeline {
                    try await pipeline.reconcile(isFinal: final)
                } else {
                    try await receiver?.reconcile(isFinal: final)
                }
            guard let result else { return }
            if json {
                Console.result(try JSONOutput.document(result))
            } else {
                ReconciliationText(result).lines.forEach(Console.result)
            }
            if let pipeline, let file = metrics.metricsFile {
                let text = MetricsText(try await pipeline.status().map { [$0] } ?? [], at: Date.now).text
                try MetricsFile.write(MetricsFile.exitMetrics(at: file) + text, to: file)
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

    private static func others(_ days: [String]) -> String {
        days.count == 1 ? "" : " and \(counted(days.count - 1, "other day"))"
    }
}
