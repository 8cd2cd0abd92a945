import Actions
import ArgumentParser
import Basics
import FoundationEssentials
import Pipeline
import Status

/// The metrics options of a command.
struct MetricsOptions: ParsableArguments {
    @Option(help: Self.fileHelp)
    var metricsFile: String?

    static let fileHelp = ArgumentHelp(
        "Write the job's Prometheus metrics to this file, for node_exporter's textfile collector.",
        valueName: "FILE"
    )

    /// Why a job with only a receiver has no file with metrics.
    static let noReceiverMetrics =
        "--metrics-file needs the job of a crawl; the metrics of a receiver are under /metrics where it listens."

    /// The time to connect to PostgreSQL for the metrics of a run that has failed.
    private static let timeoutAfterFailure = Duration.seconds(20)

    /// Writes the metrics of runs that have ended, if the option is set.
    ///
    /// The exit codes are always written; what cannot be read from the ledger is left out. A failure is logged as a warning and
    /// does not change the exit code.
    ///
    /// - Parameters:
    ///   - exits: At least one.
    ///   - pipelines: Of the jobs that were read.
    ///   - app: The value of `--app`, with which the file keeps what it has about other apps.
    func write(_ exits: [LastExit], of pipelines: [Pipeline], onlyOf app: String?, log: RunLog) async {
        guard let metricsFile else { return }
        let isComplete = exits.allSatisfy { ExitStatus(rawValue: $0.code)?.isComplete == true }
        var statuses: [JobStatus]?
        do {
            for pipeline in pipelines {
                let status = try await pipeline.status(within: isComplete ? nil : Self.timeoutAfterFailure)
                statuses = (statuses ?? []) + [status].compactMap(\.self)
            }
        } catch  where !isComplete {
            // The message of the run says why it failed; the ledger often cannot be read for the same reason.
        } catch {
            log.warn("--metrics-file \(metricsFile): \(Failure(error).message)")
        }
        var metrics = MetricsText(statuses, at: Date.now, exits: exits)
        if let app { metrics.keep(MetricsFile.lines(at: metricsFile) { _ in true }, exceptOf: app) }
        Self.write(metrics, to: metricsFile) { log.warn($0) }
    }

    /// Writes the metrics of `actions run`, if the option is set.
    ///
    /// - Parameters:
    ///   - batches: Those that were sent; `nil` if the command failed, and the newest one is read from the ledger.
    ///   - exit: How the command ended.
    ///   - pipeline: `nil` if the job file was not read.
    ///   - log: Gets a warning if the file cannot be written.
    func write(_ batches: [BatchStatus]?, _ exit: LastExit, of pipeline: ActionPipeline?, log: RunLog) async {
        guard let metricsFile else { return }
        var batches = batches
        if batches == nil, let pipeline {
            // The message of the command says why it failed; the ledger often cannot be read for the same reason.
            batches = try? await pipeline.lastBatch(within: Self.timeoutAfterFailure).map { [$0] }
        }
        let metrics = MetricsText(batches ?? [], of: pipeline?.job, exit: exit)
        Self.write(metrics, to: metricsFile) { log.warn($0) }
    }

    /// Writes the metrics of a command line that cannot be parsed, if it is one of `run`, `retry` or `actions run` with
    /// `--metrics-file`.
    ///
    /// - Parameter arguments: The command line without the name of the program.
    static func writeUsageError(_ arguments: [String]) {
        let isRun = ["run", "retry"].contains(arguments.first) || arguments.starts(with: ["actions", "run"])
        guard isRun, let file = value(of: "--metrics-file", in: arguments) else { return }
        let jobFile = arguments.first { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }
        let exit = LastExit(code: ExitStatus.usage.rawValue, of: nil, in: jobFile)
        write(MetricsText(exit), to: file) { Console.message("storeledger: warning: \($0)") }
    }

    private static func value(of option: String, in arguments: [String]) -> String? {
        if let joined = arguments.first(where: { $0.hasPrefix(option + "=") }) {
            return String(joined.dropFirst(option.count + 1))
        }
        guard let place = arguments.firstIndex(of: option) else { return nil }
        let value = arguments.dropFirst(place + 1).first
        return value?.hasPrefix("-") == false ? value : nil
    }

    private static func write(_ metrics: MetricsText, to path: String, warn: (String) -> Void) {
        do {
            try MetricsFile.write(metrics.text, to: path)
        } catch {
            warn("--metrics-file \(path): \(Failure(error).message)")
        }
    }
}
