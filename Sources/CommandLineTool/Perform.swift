import ArgumentParser
import Basics
import JobFiles
import Pipeline
import Platform

/// Runs a command's work; SIGINT and SIGTERM cancel it, and it ends in an orderly way.
///
/// A failure is written to stderr and determines the exit code. A failed write to stdout is reported too, but does not
/// replace the exit code of another failure. A reader that closes the pipe changes nothing: the command ends without a
/// message, with the exit code of its work.
/// - `job`: The path of the job file, for commands in messages.
/// - `endsBySignal`: Whether a signal is the regular end of the work, unless counted work is left.
/// - `onlyReads`: Whether a stopped command leaves nothing to resume.
/// - `log`: Where failures are logged; without it, they are written to stderr.
func perform(
    job: String? = nil,
    log: RunLog? = nil,
    endsBySignal: Bool = false,
    onlyReads: Bool = false,
    _ work: @escaping @Sendable () async throws -> Void
) async throws {
    var code = ExitCode.success
    do {
        try await withSignalsAsCancellation(work)
    } catch let error as ExitCode {
        code = error
    } catch let error as Interrupted where endsBySignal && !Failure(error).leavesWork {
        return
    } catch let error as Interrupted where onlyReads {
        Console.message("stopped by signal \(error.signal)")
        throw ExitCode(ExitStatus.workLeft.rawValue)
    } catch let error as ValidationError {
        throw error
    } catch {
        let failure = Failure(error)
        show(failure, namingJob(job, in: failure.message), log)
        throw ExitCode(failure.status.rawValue)
    }
    let isComplete = [.complete, .completeWithLosses].contains(ExitStatus(rawValue: code.rawValue))
    if isComplete, let reason = Console.failure {
        let words = systemErrorText(reason)
        Console.message("storeledger: the result cannot be written to stdout: \(words)")
        throw ExitCode(ExitStatus.ioError.rawValue)
    }
    if code != .success { throw code }
}

/// Runs a command's work for one of several apps; a failure is shown with the app.
///
/// - Returns: The exit code of a command with only this work.
func exitStatus(
    of app: JobFile.App,
    in job: String,
    log: RunLog? = nil,
    _ work: () async throws -> Void
) async -> ExitStatus {
    do {
        try await work()
        return .complete
    } catch let code as ExitCode {
        return ExitStatus(rawValue: code.rawValue) ?? .bug
    } catch {
        let failure = Failure(error)
        let message = namingJob(job, in: failure.message)
        show(failure, log == nil ? "\(app.bundleId): \(message)" : message, log)
        return failure.status
    }
}

private func show(_ failure: Failure, _ message: String, _ log: RunLog?) {
    if failure.isPlannedStop {
        log?.stopped(message, exitCode: failure.status.rawValue) ?? Console.message(message)
    } else if let log {
        log.failed(message, exitCode: failure.status.rawValue)
    } else {
        Console.message("storeledger: \(message)")
    }
}

/// Writes the path of the job file in place of `JOB` into the commands of a message, so that they can be copied.
///
/// - Parameters:
///   - job: The path; `nil` leaves the message as it is.
///   - message: A message with commands such as `storeledger migrate JOB`.
func namingJob(_ job: String?, in message: String) -> String {
    guard let job else { return message }
    let isPlain = job.wholeMatch(of: /[A-Za-z0-9._\/@+-]+/) != nil
    let word = isPlain ? job : "'" + job.replacing("'", with: "'\\''") + "'"
    return message.replacing(/storeledger ([a-z]+(?: [a-z]+)?) JOB/) { "storeledger \($0.1) \(word)" }
}
