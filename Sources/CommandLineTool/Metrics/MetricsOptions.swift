import ArgumentParser
import FoundationEssentials
import Ledger
import Pipeline

/// The metrics options of a command.
struct MetricsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the job's Prometheus metrics to this file, for node_exporter's textfile collector.",
            valueName: "FILE"
        )
    )
    var metricsFile: String?

    /// Writes the metrics of the job, if the option is set.
    ///
    /// A failure is logged as a warning and does not change the exit code of the run.
    func write(of pipeline: Pipeline, afterFailure: Bool, log: RunLog) async {
        guard let metricsFile else { return }
        do {
            guard let status = try await pipeline.status(within: afterFailure ? .seconds(5) : nil) else { return }
            try MetricsFile.write(MetricsText([status], at: Date.now).text, to: metricsFile)
        } catch {
            log.warn("--metrics-file \(metricsFile): \(Failure(error).message)")
        }
    }
}
