import ArgumentParser
import Basics
import Glibc
import Pipeline

/// Runs a command's work; SIGINT and SIGTERM cancel it, and it ends in an orderly way.
///
/// A failure is written to stderr and determines the exit code. A failed write to stdout is reported too, but does not
/// replace the exit code of another failure.
/// - `endsBySignal`: Whether a signal is the regular end of the work.
/// - `log`: Where failures are logged; without it, they are written to stderr.
func perform(log: RunLog? = nil, endsBySignal: Bool = false, _ work: @escaping @Sendable () async throws -> Void)
    async throws
{
    var code = ExitCode.success
    do {
        try await withSignalsAsCancellation(work)
    } catch let error as ExitCode {
        code = error
    } catch is Interrupted where endsBySignal {
        return
    } catch let error as ValidationError {
        throw error
    } catch {
        let failure = Failure(error)
        if let log {
            log.failed(failure.message, exitCode: failure.status.rawValue)
        } else {
            Console.message("storeledger: \(failure.message)")
        }
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
