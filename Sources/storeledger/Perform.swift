import ArgumentParser
import ExportPipeline
import Glibc
import Workers

/// Runs a command's work; SIGINT and SIGTERM stop it in order.
///
/// A failure becomes its sentence on stderr and its exit code. So does a result that stdout did not take, unless
/// something worse has happened.
/// - `endsBySignal`: Whether a signal is how the work is meant to end.
/// - `log`: Where the sentence goes; plainly to stderr without one.
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
