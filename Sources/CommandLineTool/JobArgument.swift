import ArgumentParser
import Basics
import FoundationEssentials
import JobPlan
import Ledger
import Pipeline

/// The job file argument.
struct JobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file.", valueName: "JOB"))
    var path: String

    /// Reads the file and shows its warnings.
    func load<Content: JobDescription>(
        _ accepted: AcceptedJobs<Content>,
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") }
    ) throws -> Content {
        let job = try accepted.load(path: path, environment: ProcessInfo.processInfo.environment)
        job.warnings.forEach(warn)
        return job
    }

    /// The pipeline of a crawl, after showing the warnings of its file.
    func pipeline() throws -> Pipeline { try pipeline(of: try load(.crawl)) }

    func pipeline(
        of job: JobFile,
        waiting: @escaping @Sendable (String) -> Void = reportDatabaseWait
    ) throws -> Pipeline {
        Pipeline(
            job: job,
            at: try LedgerAddress(of: job, waiting: waiting),
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
}

extension JobArgument {
    init(path: String) {
        self.init()
        self.path = path
    }
}
