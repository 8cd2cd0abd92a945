import Synchronization

/// The stop of a ``BatchSender`` before its last row.
///
/// Nothing is sent afterwards, and waits end at once. Requests in progress are not interrupted: without its answer, the outcome of a
/// request is unknown.
final class SendingStop: Sendable {
    private struct State {
        var isRequested = false
        var cause: (any Error)?
        /// Cancels each wait in progress.
        var waits: [Int: @Sendable () -> Void] = [:]
        var nextWait = 0
    }

    private let state = Mutex(State())

    var isRequested: Bool { state.withLock { $0.isRequested } }
    /// The first error that requested the stop.
    var cause: (any Error)? { state.withLock { $0.cause } }

    /// - Parameter cause: What every worker's run ends with; `nil` for a stop from outside.
    func request(because cause: (any Error)? = nil) {
        let waits = state.withLock { state in
            state.isRequested = true
            state.cause = state.cause ?? cause
            return state.waits.values
        }
        for cancel in waits { cancel() }
    }

    /// Returns what `body` waits for.
    ///
    /// - Throws: ``SendingStopped`` if the stop is requested before or meanwhile; errors of `body`.
    func wait<Value: Sendable>(for body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let waiting = Task { try await body() }
        let id = state.withLock { state in
            state.nextWait += 1
            state.waits[state.nextWait] = { waiting.cancel() }
            return state.nextWait
        }
        defer { state.withLock { $0.waits[id] = nil } }
        if isRequested { waiting.cancel() }
        let result = await withTaskCancellationHandler {
            await waiting.result
        } onCancel: {
            waiting.cancel()
        }
        guard !isRequested else { throw SendingStopped() }
        return try result.get()
    }
}

/// The process was stopped before it sent another request of the row.
struct SendingStopped: Error {}
