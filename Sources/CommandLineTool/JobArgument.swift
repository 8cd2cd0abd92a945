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
            version: storeLedgerVersion,
            jobFile: JobFilePlace(
                path: URL(filePath: path).standardizedFileURL.path,
                host: ProcessInfo.processInfo.hostName
            ),
            applicationName: StoreLedger.applicationName(job: job.name),
            databaseDeadline: try databaseDeadline(),
            waiting: waiting
        )
    }
}

/// How long to wait for PostgreSQL: `STORELEDGER_DATABASE_DEADLINE` in the environment, in seconds, 60 by default.
func databaseDeadline() throws -> Duration {
    let named = ProcessInfo.processInfo.environment["STORELEDGER_DATABASE_DEADLINE"]
    guard let seconds = Int(named ?? "60"), (1...86_400).contains(seconds) else {
        throw ValidationError("STORELEDGER_DATABASE_DEADLINE must be whole seconds from 1 to 86400.")
    }
    return .seconds(seconds)
}
