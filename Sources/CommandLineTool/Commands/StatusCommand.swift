import ArgumentParser
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
            let source = try source()
            repeat {
                let shown = try await read(source)
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

    private enum Source {
        case job(Pipeline)
        case receiver(ReceiverPipeline)
        case ledger(Ledger)
    }

    private func source() throws -> Source {
        let argument = place.ledger.path.map(JobArgument.init(path:))
        let job = try argument?.load(.crawlOrReceiver)
        if case .crawl(let crawl) = job, let argument { return .job(try argument.pipeline(of: crawl)) }
        guard case .receiver(let receiver) = job else { return .ledger(try place.ledger.address().ledger()) }
        if metrics.metricsFile != nil { throw ValidationError(MetricsOptions.noReceiverMetrics) }
        return .receiver(ReceiverPipeline(job: receiver, at: try LedgerAddress(of: receiver)))
    }

    private func read(_ source: Source) async throws -> (statuses: [JobStatus], lines: [String]) {
        switch source {
        case .receiver(let pipeline):
            let status = try await pipeline.status()
            return ([], json ? [try text(of: status)] : ReceiverStatusText(status, jobFile: place.ledger.path).lines)
        case .ledger(let ledger):
            let statuses = try await statuses(in: ledger)
            if json { return (statuses, [try text(of: statuses)]) }
            return (statuses, statuses.isEmpty ? ["no job has ever run"] : statuses.flatMap(\.lines))
        case .job(let pipeline):
            guard let status = try await pipeline.status() else {
                return ([], [json ? "null" : "\(pipeline.job.name) has never run"])
            }
            let lines = status.lines.map { namingJob(place.ledger.path, in: $0) }
            return ([status], json ? [try text(of: status)] : lines)
        }
    }

    /// The status of every job of apps, by app and name.
    private func statuses(in ledger: Ledger) async throws -> [JobStatus] {
        var statuses: [JobStatus] = []
        for app in try await place.apps(in: ledger) {
            for name in try await place.jobs(of: app, in: ledger).sorted() {
                statuses.append(
                    try await ledger.status(
                        of: name,
                        app: app.id,
                        bundleId: app.bundleId,
                        environment: app.environment
                    )
                )
            }
        }
        return statuses
    }

    private func text(of value: some Encodable) throws -> String {
        watch ? try JSONOutput.line(value) : try JSONOutput.document(value)
    }
}
