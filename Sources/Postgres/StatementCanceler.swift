import CLibPQ
import Dispatch
import Synchronization

/// Stops the running statement of one session, from any thread.
///
/// `@unchecked Sendable`: the pointer never changes, `PQcancel` may be called from any thread, and `PQfreeCancel` runs
/// in `deinit`, when there is no other reference.
@safe
final class StatementCanceler: @unchecked Sendable {
    private let handle: OpaquePointer?
    /// The number of the use that may be cancelled; `nil` while the session is not in use.
    private let use = Mutex<(current: Int?, last: Int)>((nil, 0))

    init(of session: OpaquePointer) {
        unsafe handle = PQgetCancel(session)
    }

    deinit { unsafe PQfreeCancel(handle) }

    /// Begins a use of the session and returns its number, with which ``cancel(_:)`` stops its statements.
    func begin() -> Int {
        use.withLock { use in
            use.last += 1
            use.current = use.last
            return use.last
        }
    }

    /// Ends the use; waits for a cancel request in progress, so that it cannot stop a statement of the next use.
    func end(_ number: Int) {
        use.withLock { use in
            if use.current == number { use.current = nil }
        }
    }

    /// Sends cancel requests until the use ends, because a request that arrives between two statements has no effect.
    func cancel(_ number: Int) {
        DispatchQueue.global().async { self.repeatCancel(number) }
    }

    private func repeatCancel(_ number: Int) {
        let isCurrent = use.withLock { use in
            guard use.current == number else { return false }
            cancelNow()
            return true
        }
        guard isCurrent else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { self.repeatCancel(number) }
    }

    /// Sends one request and waits until the server has received it; the statement's own result shows its effect.
    func cancelNow() {
        guard let handle = unsafe handle else { return }
        var message = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(handle, &message, Int32(message.count))
    }
}
