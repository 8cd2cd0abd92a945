import Dispatch
import Platform
import Synchronization

/// A signal stopped the program, and the running work was cancelled and has ended.
package struct Interrupted: Error {
    /// SIGINT or SIGTERM.
    package let signal: Int32
    /// The error with which the work ended after the signal; `nil` for none and for `CancellationError`.
    package let failure: (any Error)?
}

/// Runs `body`, and cancels its task at SIGINT or SIGTERM.
///
/// A second signal ends the process at once, with status 128 + its number. Before and after this function, both signals
/// have their previous effect. Calls must not be nested.
///
/// - Returns: The result of `body`, unless a signal came first.
/// - Throws: ``Interrupted`` when `body` has ended after a signal; otherwise the error of `body`.
package func withSignalsAsCancellation<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let (signals, heard) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
    let wasSignalled = SignalFlag()
    let watches = [SIGINT, SIGTERM].map { number in
        SignalWatch(number) {
            guard wasSignalled.raise() else { _exit(128 + number) }
            heard.yield(number)
        }
    }
    for watch in watches { await watch.start() }
    let result = await outcome { try await canceling(body, on: signals) }
    for watch in watches { await watch.stop() }
    return try result.get()
}

/// Makes a write to a closed pipe or socket return an error (EPIPE) instead of ending the process.
package func ignoreSIGPIPE() {
    _ = signal(SIGPIPE, SIG_IGN)
}

private enum Event<Value: Sendable>: Sendable {
    case finished(Result<Value, any Error>)
    /// `nil` when the caller was cancelled. The body is cancelled as well, and its outcome counts.
    case heard(Int32?)
}

private func canceling<Value: Sendable>(
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
                throw Interrupted(signal: signal, failure: result.failure)
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
    /// The error; `nil` for `CancellationError`.
    fileprivate var failure: (any Error)? {
        guard case .failure(let error) = self, !(error is CancellationError) else { return nil }
        return error
    }
}

/// Observes one signal on a dispatch queue, where all functions may be called, unlike in a signal handler.
private struct SignalWatch {
    private let number: Int32
    private let source: any DispatchSourceSignal
    private var previousAction = sigaction()

    init(_ number: Int32, heard: @escaping @Sendable () -> Void) {
        self.number = number
        unsafe sigaction(number, nil, &previousAction)
        source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler(handler: heard)
    }

    /// Returns when the signal is observed.
    ///
    /// Until then it has its previous effect, so no signal is lost.
    func start() async {
        await withCheckedContinuation { registered in
            source.setRegistrationHandler { registered.resume() }
            source.activate()
        }
    }

    /// Returns when the signal has its previous effect again.
    func stop() async {
        await withCheckedContinuation { cancelled in
            source.setCancelHandler { cancelled.resume() }
            source.cancel()
        }
        var previousAction = previousAction
        unsafe sigaction(number, &previousAction, nil)
    }
}

private final class SignalFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Sets the flag; returns whether it was not set before.
    func raise() -> Bool {
        !isRaised.exchange(true, ordering: .relaxed)
    }
}
