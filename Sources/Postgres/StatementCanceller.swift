import CLibPQ
import Dispatch
import Synchronization

/// Stops the statement that runs on one session, from any thread.
///
/// `@unchecked Sendable`: the pointer never changes, `PQcancel` may be called from any thread, and `PQfreeCancel` runs
/// only when nobody holds the object any more.
@safe
final class StatementCanceller: @unchecked Sendable {
    private let handle: OpaquePointer?
    /// The number of the loan that may be cancelled; `nil` between loans.
    private let loan = Mutex<(current: Int?, last: Int)>((nil, 0))

    init(of session: OpaquePointer) {
        unsafe handle = PQgetCancel(session)
    }

    deinit { unsafe PQfreeCancel(handle) }

    /// Begins a loan of the session, the span in which ``cancel(_:)`` may hit its statements.
    func begin() -> Int {
        loan.withLock { loan in
            loan.last += 1
            loan.current = loan.last
            return loan.last
        }
    }

    /// Ends the loan; waits for a cancel request on its way, so that it can never hit the next user's statement.
    func end(_ number: Int) {
        loan.withLock { loan in
            if loan.current == number { loan.current = nil }
        }
    }

    /// Asks the server to stop, again and again until the loan ends: a request that arrives between two statements is lost.
    func cancel(_ number: Int) {
        DispatchQueue.global().async { self.repeatCancel(number) }
    }

    private func repeatCancel(_ number: Int) {
        let wasLent = loan.withLock { loan in
            guard loan.current == number else { return false }
            cancelNow()
            return true
        }
        guard wasLent else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { self.repeatCancel(number) }
    }

    /// Sends one request and waits until the server has taken it; what comes of it shows in the statement's own answer.
    func cancelNow() {
        guard let handle = unsafe handle else { return }
        var complaint = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(handle, &complaint, Int32(complaint.count))
    }
}
