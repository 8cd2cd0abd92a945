import AppStoreModel
import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import JobSyntax
import Ledger
import Pipeline
import Platform
import Status

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a job: runs, items, failures, rejected records, gaps, used limits.",
        discussion: """
            Reads only PostgreSQL, so it works on any machine, whether or not the job is
            running. Without JOB: every job of every app in the ledger of --database or
            DATABASE_URL, or of the app that --app names. Parts that the role may not
            read, or that another session has locked for longer than a second, are left
            out, and the output lists them. For the job of a receiver alone: what was
            received, what is not a record yet, and what was refused.

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

    @Flag(help: "Write one JSON document to stdout; an array without JOB, and for several apps of it.")
    var json = false

    @Flag(help: "Repeat every two seconds until interrupted; with --json, one document per line.")
    var watch = false

    @OptionGroup var metrics: MetricsOptions

    func run() async throws {
        try await perform(job: place.ledger.path, endsBySignal: watch, onlyReads: true) {
            // Created once, so that warnings of the job file appear once and connections are reused.
            let source = try source()
            repeat {
                let shown = try await read(source)
                if let metricsFile = metrics.metricsFile {
                    let metrics = MetricsText(shown.statuses, at: Date.now).text
                    try MetricsFile.write(MetricsFile.processMetrics(at: metricsFile) + metrics, to: metricsFile)
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
        case jobs([Pipeline])
        case receivers([ReceiverPipeline])
        case ledger(Ledger)
    }

    /// Who asks for the state does not wait for a table that another session has locked.
    private static let lockTimeout = Duration.seconds(1)

    private func source() throws -> Source {
        guard let argument = place.job else {
            var address = try place.ledger.address()
            address.lockTimeout = Self.lockTimeout
            return .ledger(address.ledger())
        }
        var crawls: [JobFile] = []
        var receivers: [ReceiverPipeline] = []
        for job in try argument.loadEach(.crawlOrReceiver) {
            switch job {
            case .crawl(let crawl): crawls.append(crawl)
            case .receiver(let receiver):
                var address = try LedgerAddress(of: receiver)
                address.lockTimeout = Self.lockTimeout
                receivers.append(ReceiverPipeline(job: receiver, at: address))
            case .action: break
            }
        }
        guard crawls.isEmpty else {
            return .jobs(try argument.pipelines(of: crawls, lockTimeout: Self.lockTimeout))
        }
        if metrics.metricsFile != nil { throw ValidationError(MetricsOptions.noReceiverMetrics) }
        return .receivers(receivers)
    }

    private func read(_ source: Source) async throws -> (statuses: [JobStatus], lines: [String]) {
        switch source {
        case .receivers(let pipelines):
            var statuses: [ReceiverStatus] = []
            for pipeline in pipelines { statuses.append(try await pipeline.status()) }
            if json { return ([], [try statuses.count == 1 ? text(of: statuses[0]) : text(of: statuses)]) }
            return ([], statuses.flatMap { ReceiverStatusText($0, jobFile: place.ledger.path).lines })
        case .ledger(let ledger):
            let statuses = try await statuses(in: ledger)
            if json { return (statuses, [try text(of: statuses)]) }
            return (statuses, statuses.isEmpty ? ["no job has ever run"] : statuses.flatMap(\.lines))
        case .jobs(let pipelines):
            var statuses: [JobStatus] = []
            var lines: [String] = []
            for pipeline in pipelines {
                let status = try await pipeline.status()
                if let status { statuses.append(status) }
                let app = pipelines.count > 1 ? "\(pipeline.job.app.bundleId): " : ""
                lines +=
                    status?.lines.map { namingJob(place.ledger.path, in: $0) }
                    ?? ["\(app)\(pipeline.job.name) has never run"]
            }
            guard json else { return (statuses, lines) }
            if pipelines.count > 1 { return (statuses, [try text(of: statuses)]) }
            return (statuses, [try statuses.first.map { try text(of: $0) } ?? "null"])
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

extension Pipeline {
    /// The job's status, read only from the ledger.
    ///
    /// - Parameter limit: How long to wait for PostgreSQL; replaces the usual deadline.
    /// - Returns: `nil` if the job has never run.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    func status(within limit: Duration? = nil) async throws -> JobStatus? {
        if let limit { try await ledger.connect(within: limit) }
        try await ledger.open()
        guard let app = try await knownApp() else { return nil }
        let now = try await ledger.now()
        let status = try await ledger.status(
            of: job.name,
            app: app,
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            plan: RunPlan(job: job, app: app, now: now, restart: false, version: storeLedgerVersion)
        )
        return status.runs.isEmpty && !status.isPartial ? nil : status
    }
}
