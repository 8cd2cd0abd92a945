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
        let job = try ActionJob.load(path: path, environment: ProcessInfo.processInfo.environment)
        job.warnings.forEach { Console.message("storeledger: warning: \($0)") }
        return ActionPipeline(
            job: job,
            applicationName: StoreLedger.applicationName(job: job.name),
            databaseDeadline: try databaseDeadline(),
            waiting: reportDatabaseWait
        )
    }
}
