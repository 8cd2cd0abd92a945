package import AppStoreModel
package import RateLimit
import Synchronization

/// A rate ledger with answers that a test scripts.
///
/// It records the calls.
package final class ScriptedLedger: RateLedger {
    package struct Broken: Error {
        package init() {}
    }

    private struct State {
        package var asked: [Int] = []
        var closed: [Duration] = []
        var callsAtOnce = 0
        var mostCallsAtOnce = 0
    }

    private let state = Mutex(State())
    private let answer: @Sendable (_ call: Int, _ atMost: Int) async throws -> RateGrant

    /// - Parameter answer: Receives the number of the call, from 1, and its arguments.
    package init(_ answer: @escaping @Sendable (_ call: Int, _ atMost: Int) async throws -> RateGrant) {
        self.answer = answer
    }

    /// Grants everything that is requested.
    package convenience init() {
        self.init { _, atMost in .granted(atMost) }
    }

    package var asked: [Int] { state.withLock(\.asked) }
    package var closed: [Duration] { state.withLock(\.closed) }
    package var mostCallsAtOnce: Int { state.withLock(\.mostCallsAtOnce) }

    package func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant {
        let call = state.withLock { state in
            state.asked.append(count)
            state.callsAtOnce += 1
            state.mostCallsAtOnce = max(state.mostCallsAtOnce, state.callsAtOnce)
            return state.asked.count
        }
        defer { state.withLock { $0.callsAtOnce -= 1 } }
        return try await answer(call, count)
    }

    package func close(_ stream: StreamName, for wait: Duration) async throws {
        state.withLock { $0.closed.append(wait) }
    }
}

extension RateGrant {
    package static func granted(_ count: Int) -> RateGrant {
        RateGrant(granted: count, wait: .zero)
    }

    package static func refused(_ wait: Duration) -> RateGrant {
        RateGrant(granted: 0, wait: wait)
    }
}
