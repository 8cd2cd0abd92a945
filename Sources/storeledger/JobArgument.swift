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

    func pipeline() throws -> ExportPipeline {
        ExportPipeline(job: try load(), version: StoreLedger.version)
    }
}

/// Runs a command's work; SIGINT and SIGTERM stop it in order.
///
/// A failure becomes its sentence on stderr and its exit code.
func perform(_ work: @escaping @Sendable () async throws -> Void) async throws {
    do {
        try await withSignalsAsCancellation(work)
    } catch let exit as ExitCode {
        throw exit
    } catch {
        let failure = Failure(error)
        Console.message("storeledger: \(failure.message)")
        throw ExitCode(failure.status.rawValue)
    }
}
