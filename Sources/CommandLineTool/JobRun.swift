import AppStoreModel
import ArgumentParser
import Basics
import JobFiles
import Ledger
import Pipeline
import Planning
import Synchronization

/// How many items `run` and `retry` crawl at once.
struct ConcurrencyOption: ParsableArguments {
    @Option(help: ArgumentHelp("Concurrent items of an app, 1 to 256; overrides limits.concurrency.", valueName: "N"))
    var concurrency: Int?

    func validate() throws {
        if let concurrency, !(1...256).contains(concurrency) {
            throw ValidationError("--concurrency is \(concurrency); it must be from 1 to 256.")
        }
    }
}

/// What `run` and `retry` do with their jobs.
///
/// Each app has its own run, budget, progress and exit code. They share the database sessions, one refresh of the views and one
/// notification.
struct JobRun {
    let argument: JobsArgument
    let options: Pipeline.Options
    let process: ProcessOptions
    /// With it, a job whose last complete run began less than this time ago does nothing.
    var ifOlderThan: ShortDuration?

    /// How the work on a job ended without an error.
    private enum Ending {
        case complete(SessionResult)
        case recent(RecentRun, limit: ShortDuration)
        case nothingToDo(String)
    }

    /// The work on one app.
    private struct AppRun {
        let pipeline: Pipeline
        let facts: ProcessFacts
        let log: RunLog
        let form: ProgressForm

        var job: JobFile { pipeline.job }
    }

    /// Runs the jobs, shows their progress, and writes the summaries to stdout.
    ///
    /// However the process ends, it then sends the notification and writes the metrics, both with its exit code.
    func perform() async throws {
        let (log, form) = process.display
        let facts = Mutex(argument.paths.map { ProcessFacts(jobFile: $0) })
        do {
            let file = argument.paths.count == 1 ? argument.paths[0] : nil
            try await CommandLineTool.perform(job: file, log: log) {
                let runs = try load(log, form)
                facts.withLock { $0 = runs.map(\.facts) }
                let metrics = ProgressMetrics(
                    file: process.metricsFile,
                    app: argument.app,
                    labels: runs.map { $0.facts.exit(code: ExitStatus.complete.rawValue).labels },
                    time: .system
                )
                if runs.count == 1 { try await perform(runs[0], metrics) } else { try await perform(runs, metrics) }
            }
        } catch {
            // The only other error is a wrong value in the environment, which counts as a wrong command line.
            let code = (error as? ExitCode)?.rawValue ?? ExitStatus.usage.rawValue
            await finish(facts.withLock(\.self), code: code, log)
            throw error
        }
        await finish(facts.withLock(\.self), code: ExitStatus.complete.rawValue, log)
    }

    /// Reads the job files.
    ///
    /// - Throws: ``JobFiles/JobsConflict``, errors of the files.
    private func load(_ log: RunLog, _ form: ProgressForm) throws -> [AppRun] {
        let jobs = try argument.loadEach(.crawl, warn: log.warn)
        try checkTogether(jobs.map(\.job))
        var ledgers: [(output: PostgresOutput, ledger: Ledger)] = []
        return try jobs.map { file, job in
            let known = ledgers.first { $0.output.isSameLedger(as: job.postgres) }?.ledger
            let sharing = jobs.map(\.job).filter { $0.postgres.isSameLedger(as: job.postgres) }
            let ledger =
                try known ?? LedgerAddress(of: job, waiting: { log.report(Trouble($0)) }).ledger(of: sharing)
            if known == nil { ledgers.append((job.postgres, ledger)) }
            let pipeline = file.pipeline(of: job, in: ledger)
            let facts = ProcessFacts(jobFile: file.path)
            facts.read(pipeline)
            let (ownLog, ownForm) = jobs.count == 1 ? (log, form) : process.display(of: job.app.bundleId)
            return AppRun(pipeline: pipeline, facts: facts, log: ownLog, form: ownForm)
        }
    }

    /// Runs the only app.
    private func perform(_ run: AppRun, _ metrics: ProgressMetrics) async throws {
        let ending = try await end(run, options, metrics, place: 0)
        try show(ending, of: run)
        guard case .complete(let report) = ending, report.exitStatus != .complete else { return }
        throw ExitCode(report.exitStatus.rawValue)
    }

    /// Runs several apps at once; the failure of one does not stop the others.
    ///
    /// - Throws: The worst exit code.
    private func perform(_ runs: [AppRun], _ metrics: ProgressMetrics) async throws {
        _ = OpenFiles.raiseLimit()
        var own = options
        own.refreshesViews = false
        let options = own
        var endings: [Ending?] = runs.map { _ in nil }
        await withTaskGroup(of: (Int, Ending?).self) { group in
            for (place, run) in runs.enumerated() {
                group.addTask { (place, await attempt(run, options, metrics, place: place)) }
            }
            for await (place, ending) in group { endings[place] = ending }
        }
        // After a signal the next start refreshes them.
        if !Task.isCancelled { await refreshViews(of: runs, &endings) }
        try show(endings, of: runs)
        let worst = ExitStatus.worst(of: runs.compactMap(\.facts.status))
        if worst != .complete { throw ExitCode(worst.rawValue) }
    }

    /// - Returns: `nil` after a failure, which is shown.
    private func attempt(
        _ run: AppRun,
        _ options: Pipeline.Options,
        _ metrics: ProgressMetrics,
        place: Int
    ) async -> Ending? {
        var ending: Ending?
        let status = await exitStatus(of: run.job.app, in: run.facts.jobFile, log: run.log) {
            ending = try await end(run, options, metrics, place: place)
        }
        run.facts.end(with: status)
        return ending
    }

    /// Refreshes the views of each ledger with a complete run, once.
    private func refreshViews(of runs: [AppRun], _ endings: inout [Ending?]) async {
        var left = Array(runs.indices)
        while let first = left.first {
            let same = left.filter { runs[$0].job.postgres.isSameLedger(as: runs[first].job.postgres) }
            left.removeAll(where: same.contains)
            let complete = same.compactMap { place -> (Int, SessionResult)? in
                guard case .complete(let report) = endings[place] else { return nil }
                return (place, report)
            }
            // Every record of a run that could not write its files is stored.
            let withoutFiles = same.first { [.cannotCreate, .ioError].contains(runs[$0].facts.status) }
            guard let place = complete.first?.0 ?? withoutFiles else { continue }
            let reports = await runs[place].pipeline.refreshViews(after: complete.map(\.1)) { event in
                runs[place].log.note(event)
            }
            for (place, report) in zip(complete.map(\.0), reports) {
                runs[place].facts.complete(report)
                runs[place].facts.end(with: report.exitStatus)
                endings[place] = .complete(report)
            }
        }
    }

    /// Crawls, unless there is nothing to do.
    ///
    /// - Parameter place: That of the app in the metrics.
    private func end(
        _ run: AppRun,
        _ options: Pipeline.Options,
        _ metrics: ProgressMetrics,
        place: Int
    ) async throws -> Ending {
        let name = run.job.name
        if let ifOlderThan, let recent = try await recentRun(of: run.pipeline, within: ifOlderThan.duration) {
            run.facts.skip()
            return .recent(recent, limit: ifOlderThan)
        }
        let display = ProgressDisplay<ProgressState>(
            form: run.form,
            log: run.log,
            time: .system,
            tick: { metrics.writeIfDue() },
            logEvent: { run.log.note($0) }
        )
        do {
            let report = try await display.whileShowing { note in
                try await run.pipeline.run(options) { event in
                    run.facts.note(event)
                    metrics.note(event, of: place)
                    note(event)
                }
            }
            run.facts.complete(report)
            return .complete(report)
        } catch NothingToRetry.neverRan {
            run.facts.skip()
            return .nothingToDo("\(name) has never run")
        } catch NothingToRetry.noneFailed {
            run.facts.skip()
            return .nothingToDo("\(name): no item has failed, so there is nothing to retry")
        }
    }

    /// The newest complete run of the job, if it began less than `limit` ago and no run is unfinished.
    private func recentRun(of pipeline: Pipeline, within limit: Duration) async throws -> RecentRun? {
        try await pipeline.ledger.connectControl()
        try await pipeline.ledger.open()
        guard let app = try await pipeline.knownApp() else { return nil }
        let now = try await pipeline.ledger.now()
        let plan = RunPlan(job: pipeline.job, app: app, now: now, restart: false, version: storeLedgerVersion)
        return try await pipeline.ledger.recentRun(plan, within: limit)
    }

    /// Shows how the only app ended.
    private func show(_ ending: Ending, of run: AppRun) throws {
        log(ending, of: run)
        guard process.json else { return lines(of: ending, run).forEach(Console.result) }
        switch ending {
        case .complete(let report): Console.result(try JSONOutput.document(RunSummaryJSON(report, of: run.job)))
        case .recent(let recent, _): Console.result(try JSONOutput.document(RecentRunJSON(recent, job: run.job)))
        case .nothingToDo: Console.result("null")
        }
    }

    /// Shows how each of several apps ended, in the order of the command line.
    private func show(_ endings: [Ending?], of runs: [AppRun]) throws {
        for (ending, run) in zip(endings, runs) { if let ending { log(ending, of: run) } }
        guard !process.json else {
            let documents = zip(endings, runs).map { ending, run -> any Encodable in
                switch ending {
                case .complete(let report): RunSummaryJSON(report, of: run.job)
                case .recent(let recent, _): RecentRunJSON(recent, job: run.job)
                case .nothingToDo(let sentence): RunlessAppJSON(run.job, status: .complete, message: sentence)
                case nil: RunlessAppJSON(run.job, status: run.facts.status ?? .bug)
                }
            }
            return Console.result(try JSONOutput.document(documents.map(AnyDocument.init)))
        }
        for (ending, run) in zip(endings, runs) {
            if let ending { lines(of: ending, run, named: true).forEach(Console.result) }
        }
        let statuses = Dictionary(grouping: runs) { $0.facts.status ?? .bug }
        let parts = statuses.sorted { $0.key.rawValue < $1.key.rawValue }.map { status, runs in
            let names = status == .complete ? "" : " (\(runs.map(\.job.app.bundleId).joined(separator: ", ")))"
            return "\(runs.count) with exit code \(status.rawValue)\(names)"
        }
        Console.result("\(runs.count) apps: \(parts.joined(separator: ", "))")
    }

    private func log(_ ending: Ending, of run: AppRun) {
        if case .complete(let report) = ending { return run.log.ended(report) }
        lines(of: ending, run).forEach(run.log.skipped)
    }

    private func lines(of ending: Ending, _ run: AppRun, named: Bool = false) -> [String] {
        let app = named ? run.job.app.bundleId : nil
        let prefix = app.map { "\($0): " } ?? ""
        switch ending {
        case .complete(let report):
            return RunSummaryText(report: report, job: run.facts.jobFile, app: app).lines
        case .recent(let recent, let limit):
            return [
                "\(prefix)\(run.job.name): nothing to do; run \(recent.run) is complete (exit code \(recent.exitCode)) and began "
                    + "\(recent.age.inWords) ago, less than \(limit.duration.inWords)"
            ]
        case .nothingToDo(let sentence):
            return [prefix + sentence]
        }
    }

    /// Sends one notification for the apps of each webhook, and writes the metrics of all apps.
    private func finish(_ attempts: [ProcessFacts], code: Int32, _ log: RunLog) async {
        var delivered: [ObjectIdentifier: Bool] = [:]
        var left = attempts
        while let webhook = left.lazy.compactMap(\.pipeline?.job.notify).first {
            let same = left.filter { $0.pipeline?.job.notify == webhook }
            left.removeAll { $0.pipeline?.job.notify == webhook }
            guard let isDelivered = await notify(of: same, code: code, webhook, log) else { continue }
            for attempt in same { delivered[ObjectIdentifier(attempt)] = isDelivered }
        }
        let exits = attempts.map { attempt in
            var exit = attempt.exit(code: code)
            exit.isNotified = delivered[ObjectIdentifier(attempt)]
            return exit
        }
        await process.metrics.write(exits, of: attempts.compactMap(\.pipeline), onlyOf: argument.app, log: log)
    }

    /// Sends the notification that a webhook gets.
    ///
    /// A failure is logged as a warning and does not change the exit code.
    ///
    /// - Returns: Whether it was delivered; `nil` if the webhook wants none.
    private func notify(of attempts: [ProcessFacts], code: Int32, _ webhook: Webhook, _ log: RunLog) async -> Bool? {
        var notices: [RunNotification] = []
        for attempt in attempts {
            if let notice = await attempt.notification(code: code) { notices.append(notice) }
        }
        guard let pipeline = attempts.first?.pipeline, let ending = FleetNotification.ending(of: notices),
            webhook.endings.contains(ending)
        else { return nil }
        let warning =
            attempts.count == 1
            ? await pipeline.send(notices[0], to: webhook)
            : await pipeline.send(FleetNotification(notices), to: webhook)
        if let warning { log.warn(warning) }
        return warning == nil
    }
}

/// A document of any type.
private struct AnyDocument: Encodable {
    let document: any Encodable

    func encode(to encoder: any Encoder) throws { try document.encode(to: encoder) }
}
