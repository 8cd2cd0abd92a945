import ArgumentParser
import ExportPipeline
import FoundationEssentials
import JobPlan
import Workers

/// The job file every command is about.
struct JobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file.", valueName: "JOB"))
    var path: String

    /// Reads the file and says on stderr what is unwise in it.
    func load() throws -> JobFile {
        let job = try JobFile.load(path: path, environment: ProcessInfo.processInfo.environment)
        for warning in job.warnings { Console.message("storeledger: warning: \(warning)") }
        return job
    }

    /// The job's pipeline.
    ///
    /// `STORELEDGER_DATABASE_DEADLINE` in the environment says how many seconds to wait for PostgreSQL, 60 by default.
    func pipeline() throws -> ExportPipeline {
        let named = ProcessInfo.processInfo.environment["STORELEDGER_DATABASE_DEADLINE"]
        guard let seconds = Int(named ?? "60"), (1...86_400).contains(seconds) else {
            throw ValidationError("STORELEDGER_DATABASE_DEADLINE must be whole seconds from 1 to 86400.")
        }
        return ExportPipeline(job: try load(), version: StoreLedger.version, databaseDeadline: .seconds(seconds))
    }
}

/// Runs a command's work; SIGINT and SIGTERM stop it in order.
///
/// A failure becomes its sentence on stderr and its exit code.
func perform(_ work: @escaping @Sendable () async throws -> Void) async throws {
    do {
        try await withSignalsAsCancellation(work)
    } catch let error where error is ExitCode || error is ValidationError {
        throw error
    } catch {
        let failure = Failure(error)
        Console.message("storeledger: \(failure.message)")
        throw ExitCode(failure.status.rawValue)
    }
}
