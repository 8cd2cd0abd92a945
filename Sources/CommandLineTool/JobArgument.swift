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
    func load(
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") }
    ) throws -> JobFile {
        let job = try JobFile.load(path: path, environment: ProcessInfo.processInfo.environment)
        job.warnings.forEach(warn)
        return job
    }

    /// The job's pipeline.
    func pipeline(
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") },
        waiting: @escaping @Sendable (String) -> Void = reportDatabaseWait
    ) throws -> Pipeline {
        let job = try load(warn: warn)
        return Pipeline(
            job: job,
            at: try LedgerAddress(job.postgres, job: job.name, waiting: waiting),
            version: storeLedgerVersion,
            jobFile: JobFilePlace(
                path: URL(filePath: path).standardizedFileURL.path,
                host: ProcessInfo.processInfo.hostName
            )
        )
    }
}

extension JobArgument {
    init(path: String) {
        self.init()
        self.path = path
    }
}
