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

    /// The time to connect to PostgreSQL for the metrics of a run that has failed.
    private static let timeoutAfterFailure = Duration.seconds(5)

    /// Writes the metrics of a run that has ended, if the option is set.
    ///
    /// The exit code is always written; what cannot be read from the ledger is left out. A failure is logged as a warning and
    /// does not change the exit code.
    func write(_ exit: LastExit, of pipeline: Pipeline?, log: RunLog) async {
        guard let metricsFile else { return }
        let isComplete = ExitStatus(rawValue: exit.code)?.isComplete == true
        var statuses: [JobStatus]?
        do {
            if let pipeline {
                let status = try await pipeline.status(within: isComplete ? nil : Self.timeoutAfterFailure)
                statuses = status.map { [$0] } ?? []
            }
        } catch  where !isComplete {
            // The message of the run says why it failed; the ledger often cannot be read for the same reason.
        } catch {
            log.warn("--metrics-file \(metricsFile): \(Failure(error).message)")
        }
        Self.write(MetricsText(statuses, at: Date.now, exit: exit), to: metricsFile) { log.warn($0) }
    }

    /// Writes the metrics of a command line that cannot be parsed, if it is one of `run` or `retry` with `--metrics-file`.
    ///
    /// - Parameter arguments: The command line without the name of the program.
    static func writeUsageError(_ arguments: [String]) {
        guard ["run", "retry"].contains(arguments.first), let file = value(of: "--metrics-file", in: arguments) else {
            return
        }
        let exit = LastExit(
            code: ExitStatus.usage.rawValue,
            moment: Date.now,
            jobFile: arguments.first { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }
        )
        write(MetricsText(nil, at: Date.now, exit: exit), to: file) { Console.message("storeledger: warning: \($0)") }
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
