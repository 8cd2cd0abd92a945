import AppStoreModel
import Crawl
import JobPlan
import Synchronization

/// A ledger that answers as a test says, and remembers what it was asked.
final class ScriptedLedger: RateLedger {
    struct Broken: Error {}

    private struct State {
        var asked: [Int] = []
        var closed: [Duration] = []
        var callsAtOnce = 0
        var mostCallsAtOnce = 0
    }

    private let state = Mutex(State())
    private let answer: @Sendable (_ call: Int, _ atMost: Int) async throws -> RateGrant

    /// - Parameter answer: Given the number of the call, from 1, and what it asks for.
    init(_ answer: @escaping @Sendable (_ call: Int, _ atMost: Int) async throws -> RateGrant) {
        self.answer = answer
    }

    /// Grants whatever it is asked for.
    convenience init() {
        self.init { _, atMost in .granted(atMost) }
    }

    var asked: [Int] { state.withLock(\.asked) }
    var closed: [Duration] { state.withLock(\.closed) }
    var mostCallsAtOnce: Int { state.withLock(\.mostCallsAtOnce) }

    func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant {
        let call = state.withLock { state in
            state.asked.append(count)
            state.callsAtOnce += 1
            state.mostCallsAtOnce = max(state.mostCallsAtOnce, state.callsAtOnce)
            return state.asked.count
        }
        defer { state.withLock { $0.callsAtOnce -= 1 } }
        return try await answer(call, count)
    }

    func close(_ stream: StreamName, for wait: Duration) async throws {
        state.withLock { $0.closed.append(wait) }
    }
}

extension RateGrant {
    static func granted(_ count: Int) -> RateGrant {
        RateGrant(granted: count, wait: .zero)
    }

    static func refused(_ wait: Duration) -> RateGrant {
        RateGrant(granted: 0, wait: wait)
    }
}

/// Holds whoever comes until a test opens it.
final class Gate: Sendable {
    private let state = Mutex((isOpen: false, held: [CheckedContinuation<Void, Never>]()))

    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
