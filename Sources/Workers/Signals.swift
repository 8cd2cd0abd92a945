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
/// Before and after, both signals do what they did without this function. Not to be nested.
///
/// - Returns: What `body` returned, unless a signal came first.
/// - Throws: ``Interrupted`` once `body` has unwound after a signal; otherwise what `body` throws.
package func withSignalsAsCancellation<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let (signals, heard) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
    let hasHeardOne = Flag()
    let watches = [SIGINT, SIGTERM].map { number in
        SignalWatch(number) {
            guard hasHeardOne.raise() else { _exit(128 + number) }
            heard.yield(number)
        }
    }
    for watch in watches { await watch.start() }
    let result = await outcome { try await cancelling(body, on: signals) }
    for watch in watches { await watch.stop() }
    return try result.get()
}

/// Makes a write to a closed pipe or socket an error (EPIPE) instead of the end of the process.
package func ignoreSIGPIPE() {
    _ = signal(SIGPIPE, SIG_IGN)
}

private enum Event<Value: Sendable>: Sendable {
    case finished(Result<Value, any Error>)
    /// `nil` when the caller was cancelled; the body was too, and its outcome is what counts.
    case heard(Int32?)
}

private func cancelling<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value,
    on signals: AsyncStream<Int32>
) async throws -> Value {
    return try await withThrowingTaskGroup(of: Event<Value>.self) { group in
        group.addTask { .finished(await outcome(of: body)) }
        group.addTask { .heard(await signals.first { _ in true }) }

        var signal: Int32?
        for try await event in group {
            switch event {
            case .heard(let number):
                signal = number
                if number != nil { group.cancelAll() }
            case .finished(let result):
                group.cancelAll()
                guard let signal else { return try result.get() }
                throw Interrupted(signal: signal, unwinding: result.problem)
            }
        }
        preconditionFailure("the body always finishes")
    }
}

private func outcome<Value: Sendable>(of body: () async throws -> Value) async -> Result<Value, any Error> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}

extension Result where Failure == any Error {
    fileprivate var problem: (any Error)? {
        guard case .failure(let error) = self, !(error is CancellationError) else { return nil }
        return error
    }
}

/// Hears one signal on a dispatch queue, where anything may be done; a signal handler may do next to nothing.
private struct SignalWatch {
    private let number: Int32
    private let source: any DispatchSourceSignal
    private var earlier = sigaction()

    init(_ number: Int32, heard: @escaping @Sendable () -> Void) {
        self.number = number
        unsafe sigaction(number, nil, &earlier)
        source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler(handler: heard)
    }

    /// Returns once the signal is heard; until then it does what it did before, so none is lost in between.
    func start() async {
        await withCheckedContinuation { registered in
            source.setRegistrationHandler { registered.resume() }
            source.activate()
        }
    }

    /// Returns once the signal does again what it did before.
    func stop() async {
        await withCheckedContinuation { cancelled in
            source.setCancelHandler { cancelled.resume() }
            source.cancel()
        }
        var earlier = earlier
        unsafe sigaction(number, &earlier, nil)
    }
}

private final class Flag: Sendable {
    private let isRaised = Atomic(false)

    /// Whether nobody had raised it before.
    func raise() -> Bool {
        !isRaised.exchange(true, ordering: .relaxed)
    }
}
