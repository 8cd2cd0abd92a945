import ArgumentParser
import FoundationEssentials
import JobPlan
import Pipeline

/// The job file of an action.
struct ActionJobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file.", valueName: "JOB"))
    var path: String

    /// Reads the file and shows its warnings.
    func pipeline() throws -> ActionPipeline {
        try ActionPipeline(ActionJob.load(path: path, environment: ProcessInfo.processInfo.environment))
    }
}

extension JobArgument {
    /// The pipeline of a job with an action, for commands that accept both kinds; `nil` for a crawl.
    func actionPipeline() throws -> ActionPipeline? {
        let job = try AnyJob.load(path: path, environment: ProcessInfo.processInfo.environment)
        guard case .action(let job) = job else { return nil }
        return try ActionPipeline(job)
    }
}

extension ActionPipeline {
    /// The pipeline of a command; shows the warnings of the job file.
    fileprivate init(_ job: ActionJob) throws {
        job.warnings.forEach { Console.message("storeledger: warning: \($0)") }
        self.init(
            job: job,
            applicationName: StoreLedger.applicationName(job: job.name),
            databaseDeadline: try databaseDeadline(),
            waiting: reportDatabaseWait
        )
    }
}
