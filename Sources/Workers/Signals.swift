import Dispatch
import Glibc
import Synchronization

/// The program was asked to stop, and did so in order.
package struct Interrupted: Error {
    /// SIGINT or SIGTERM.
    package let signal: Int32
    /// What went wrong while the body unwound, other than being cancelled.
    package let unwinding: (any Error)?
}

/// Runs `body`, turning SIGINT and SIGTERM into ordinary task cancellation.
///
/// A second signal ends the process at once with status 128 + its number: whoever asks twice does not want to wait.
/// Signals that come while nobody runs this function do what they did before.
///
/// - Returns: What `body` returned, unless a signal came first.
/// - Throws: ``Interrupted`` once `body` has unwound after a signal; otherwise what `body` throws.
package func withSignalsAsCancellation<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let (signals, heard) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
    let watch = SignalWatch([SIGINT, SIGTERM]) { heard.yield($0) }
    defer { watch.stop() }

    return try await withThrowingTaskGroup(of: Finish<Result>.self) { group in
        group.addTask { .body(await outcome(of: body)) }
        group.addTask {
            for await number in signals { return .signal(number) }
            return .cancelled
        }

        var signal: Int32?
        for try await finish in group {
            switch finish {
            case .signal(let number):
                signal = number
                group.cancelAll()
            case .cancelled:
                // Whoever called was cancelled, and the body was with it: its outcome is what counts.
                continue
            case .body(let outcome):
                group.cancelAll()
                guard let signal else { return try outcome.get() }
                throw Interrupted(signal: signal, unwinding: outcome.problem)
            }
        }
        throw CancellationError()
    }
}

/// Makes a write to a closed pipe or socket an error (EPIPE) instead of the end of the process.
package func ignoreSIGPIPE() {
    _ = signal(SIGPIPE, SIG_IGN)
}

private enum Finish<Value: Sendable>: Sendable {
    case body(Result<Value, any Error>)
    case signal(Int32)
    case cancelled
}

private func outcome<Value: Sendable>(
    of body: @Sendable () async throws -> Value
) async -> Result<Value, any Error> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}

extension Result {
    fileprivate var problem: (any Error)? {
        guard case .failure(let error) = self, !(error is CancellationError) else { return nil }
        return error
    }
}

/// Hears signals on a dispatch queue, where anything may be done; a signal handler may do next to nothing.
private final class SignalWatch {
    private var sources: [any DispatchSourceSignal] = []
    private var earlier: [(number: Int32, handler: sighandler_t?)] = []

    init(_ numbers: [Int32], first: @escaping @Sendable (Int32) -> Void) {
        let hasHeardOne = HeardOne()
        for number in numbers {
            // The default would end the process before dispatch hears of it.
            earlier.append((number, signal(number, SIG_IGN)))
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                guard hasHeardOne.isFirst() else { _exit(128 + number) }
                first(number)
            }
            source.activate()
            sources.append(source)
        }
    }

    func stop() {
        for source in sources { source.cancel() }
        for (number, handler) in earlier { _ = signal(number, handler) }
    }

    private final class HeardOne: Sendable {
        private let flag = Atomic(false)

        func isFirst() -> Bool {
            !flag.exchange(true, ordering: .relaxed)
        }
    }
}
