import ArgumentParser
import ExportPipeline
import FoundationEssentials
import Ledger

/// Where the figures for Prometheus go.
struct MetricsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the job's figures for Prometheus into this file, whole, for node_exporter's textfile collector.",
            valueName: "FILE"
        )
    )
    var metricsFile: String?

    /// Writes the figures of how the job stands in the ledger, if they are asked for.
    ///
    /// That they cannot be written is told, and changes nothing else: the run is what counts.
    func write(of pipeline: ExportPipeline, afterFailure: Bool, log: RunLog) async {
        guard let metricsFile else { return }
        do {
            guard let status = try await pipeline.status(within: afterFailure ? .seconds(5) : nil) else { return }
            try MetricsFile.write(MetricsText([status], at: Date.now).text, to: metricsFile)
        } catch {
            log.warn("--metrics-file \(metricsFile): \(Failure(error).message)")
        }
    }
}
