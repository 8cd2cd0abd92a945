import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import Ledger
import Pipeline

/// The job file argument.
struct JobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file.", valueName: "JOB"))
    var path: String

    @Option(help: AppOption.help)
    var app: String?

    /// Reads the file and shows its warnings.
    ///
    /// - Returns: The job of each app of the file, or of `--app` alone; at least one.
    /// - Throws: ``AppNotInJob``, errors of the file.
    func loadEach<Content: JobDescription>(
        _ accepted: AcceptedJobs<Content>,
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") }
    ) throws -> [Content] {
        let jobs = try accepted.loadEach(path: path, environment: ProcessInfo.processInfo.environment)
        // Each job of a file has the same warnings.
        (jobs.last?.warnings ?? []).forEach(warn)
        return try AppOption.choose(app, from: jobs, in: path) { $0.app.bundleId }
    }

    /// The job of the file's only app, or of `--app`, after showing the warnings of the file.
    ///
    /// - Throws: ``AppNotInJob``, errors of the file.
    func load<Content: JobDescription>(
        _ accepted: AcceptedJobs<Content>,
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") }
    ) throws -> Content {
        try AppOption.one(app, from: try loadEach(accepted, warn: warn), in: path) { $0.app.bundleId }
    }

    /// The pipeline of the file's only app, or of `--app`, after showing the warnings of the file.
    func pipeline() throws -> Pipeline {
        let job = try load(.crawl)
        return try pipelines(of: [job])[0]
    }

    /// The pipeline of each app, which share a ledger, after showing the warnings of the file.
    func pipelines(lockTimeout: Duration? = nil) throws -> [Pipeline] {
        try pipelines(of: try loadEach(.crawl), lockTimeout: lockTimeout)
    }

    /// - Parameter jobs: Of this file, at least one.
    func pipelines(
        of jobs: [JobFile],
        waiting: @escaping @Sendable (DatabaseWait) -> Void = reportDatabaseWait,
        lockTimeout: Duration? = nil
    ) throws -> [Pipeline] {
        var address = try LedgerAddress(of: jobs[0], waiting: waiting)
        address.lockTimeout = lockTimeout
        let ledger = address.ledger(of: jobs)
        return jobs.map { pipeline(of: $0, in: ledger) }
    }

    func pipeline(of job: JobFile, in ledger: Ledger) -> Pipeline {
        Pipeline(
            job: job,
            ledger: ledger,
            version: storeLedgerVersion,
            jobFile: JobFilePlace(
                path: URL(filePath: path).standardizedFileURL.path,
                host: ProcessInfo.processInfo.hostName
            )
        )
    }

    /// The pipeline of an action, after showing the warnings of its file.
    func actionPipeline() throws -> ActionPipeline {
        let job = try load(.action)
        return ActionPipeline(job: job, at: try LedgerAddress(of: job))
    }

    /// Does the work of a command for each job of the file; the failure of one does not stop the others.
    ///
    /// - Throws: With one job its error; with several the worst exit code.
    func forEach<Work: AppWork>(_ works: [Work], _ perform: (Work) async throws -> Void) async throws {
        guard works.count > 1 else { return try await perform(works[0]) }
        var codes: [ExitStatus] = []
        for work in works {
            codes.append(await exitStatus(of: work.app, in: path) { try await perform(work) })
            try Task.checkCancellation()
        }
        let worst = ExitStatus.worst(of: codes)
        if worst != .complete { throw ExitCode(worst.rawValue) }
    }
}

extension JobArgument {
    init(path: String, app: String? = nil) {
        self.init()
        self.path = path
        self.app = app
    }
}

/// What a command does for one app.
protocol AppWork {
    var app: JobFile.App { get }
}

extension Job: AppWork {}

extension Pipeline: AppWork {
    var app: JobFile.App { job.app }
}

/// The option `--app` of commands with a job file.
enum AppOption {
    static let help = ArgumentHelp("Only this app of JOB.", valueName: "BUNDLE_ID")

    /// The jobs of an app, or all if it is `nil`.
    ///
    /// - Throws: ``AppNotInJob`` if there is none.
    static func choose<Job>(
        _ app: String?,
        from jobs: [Job],
        in path: String,
        bundleId: (Job) -> String
    ) throws -> [Job] {
        let chosen = jobs.filter { bundleId($0) == app ?? bundleId($0) }
        guard !chosen.isEmpty else { throw AppNotInJob(app: app, path: path, known: jobs.map(bundleId)) }
        return chosen
    }

    /// The job of an app, or the only one.
    ///
    /// - Throws: ``AppNotInJob`` if there is none, or more than one.
    static func one<Job>(_ app: String?, from jobs: [Job], in path: String, bundleId: (Job) -> String) throws -> Job {
        let chosen = try choose(app, from: jobs, in: path, bundleId: bundleId)
        guard chosen.count == 1 else { throw AppNotInJob(app: nil, path: path, known: jobs.map(bundleId)) }
        return chosen[0]
    }
}

/// A command is about one app, and a job file has several or others.
struct AppNotInJob: ExplainedError {
    /// The app of `--app`; `nil` without the option.
    let app: String?
    let path: String
    let known: [String]

    var sentence: String {
        let names = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", ..." : "")
        guard let app else {
            return "\(path) has \(known.count) apps, and the command is about one: name it with --app: \(names)"
        }
        return "\(path) has no app \(app); it has \(names)"
    }

    var status: ExitStatus { .usage }
}
