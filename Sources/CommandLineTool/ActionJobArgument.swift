import ArgumentParser
import FoundationEssentials
import JobPlan
import Pipeline

/// The job file of an action.
struct ActionJobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file.", valueName: "JOB"))
    var path: String

    /// Reads the file and shows its warnings.
    func pipeline(
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") },
        waiting: @escaping @Sendable (String) -> Void = reportDatabaseWait
    ) throws -> ActionPipeline {
        let job = try load()
        job.warnings.forEach(warn)
        return try ActionPipeline(job, waiting: waiting)
    }

    /// Reads the file.
    func load() throws -> ActionJob {
        try ActionJob.load(path: path, environment: ProcessInfo.processInfo.environment)
    }
}

extension JobArgument {
    /// The pipeline of a job with an action, for commands that accept both kinds; `nil` for a crawl.
    func actionPipeline() throws -> ActionPipeline? {
        let job = try AnyJob.load(path: path, environment: ProcessInfo.processInfo.environment)
        guard case .action(let job) = job else { return nil }
        job.warnings.forEach { Console.message("storeledger: warning: \($0)") }
        return try ActionPipeline(job, waiting: reportDatabaseWait)
    }
}

extension ActionPipeline {
    /// The pipeline of a command.
    fileprivate init(_ job: ActionJob, waiting: @escaping @Sendable (String) -> Void) throws {
        self.init(job: job, at: try LedgerAddress(job.postgres, job: job.name, waiting: waiting))
    }
}
