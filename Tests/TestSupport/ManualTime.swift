package import AppStoreModel
package import Basics
import Synchronization

/// A clock that a test moves: time passes only when the test advances it or, in automatic mode, when a task sleeps.
package final class ManualTime: Sendable {
    package enum Mode {
        /// Sleepers sleep until the test advances past their deadline.
        case byHand
        /// A sleep moves time to its end and returns at once; for one sleeper at a time.
        case automatic
    }

    private struct Sleeper {
        let ticket: Int
        let deadline: Duration
        let wake: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let ready: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Duration.zero
        var wallClock: UnixMilliseconds
        var random: [Double] = []
        var slept: [Duration] = []
        var tickets = 0
        /// Sorted by deadline; those with the same deadline in the order they came.
        var sleepers: [Sleeper] = []
        var watchers: [Watcher] = []
    }

    private let mode: Mode
    private let state: Mutex<State>

    /// Begins at a wall clock far from zero, as real ones are.
    package init(_ mode: Mode = .byHand, wallClock: UnixMilliseconds = UnixMilliseconds(rawValue: 1_795_000_000_000)) {
        self.mode = mode
        state = Mutex(State(wallClock: wallClock))
    }

    package var timekeeper: Timekeeper {
        Timekeeper(
            wallClock: { self.wallClock.rawValue },
            monotonic: { self.now },
            sleep: { try await self.sleep($0) },
            random: { self.state.withLock { $0.random.isEmpty ? 0.5 : $0.random.removeFirst() } }
        )
    }

    /// Time since the start.
    package var now: Duration { state.withLock(\.now) }
    package var wallClock: UnixMilliseconds { state.withLock { $0.wallClock + $0.now } }
    /// Every sleep so far, in the order they began.
    package var slept: [Duration] { state.withLock(\.slept) }
    package var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// Moves the machine's clock as an operator or NTP would; no time passes.
    package func setWallClockForward(by step: Duration) {
        state.withLock { $0.wallClock = $0.wallClock + step }
    }

    /// What `random` returns next; afterwards it returns 0.5.
    package func willDraw(_ numbers: [Double]) {
        state.withLock { $0.random += numbers }
    }

    /// Lets time pass and wakes every sleeper whose deadline it reaches, earliest first.
    package func advance(by duration: Duration) {
        advance(to: now + duration)
    }

    /// Lets time pass up to the earliest deadline.
    ///
    /// - Returns: `false` if no task sleeps.
    @discardableResult
    package func advanceToNextDeadline() -> Bool {
        guard let next = state.withLock({ $0.sleepers.first?.deadline }) else { return false }
        advance(to: next)
        return true
    }

    /// Returns once at least `count` tasks sleep.
    package func untilAsleep(_ count: Int = 1) async {
        await withCheckedContinuation { ready in
            let isReady = state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.watchers.append(Watcher(count: count, ready: ready))
                return false
            }
            if isReady { ready.resume() }
        }
    }

    private func advance(to moment: Duration) {
        let due = state.withLock { state in
            state.now = max(state.now, moment)
            let due = state.sleepers.prefix { $0.deadline <= state.now }
            state.sleepers.removeFirst(due.count)
            return due
        }
        for sleeper in due { sleeper.wake.resume() }
    }

    private func sleep(_ duration: Duration) async throws {
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.slept.append(duration)
            state.tickets += 1
            return state.tickets
        }
        switch mode {
        case .automatic:
            advance(to: now + duration)
            // Other tasks that are ready can run, as during a real sleep.
            await Task.yield()
        case .byHand:
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { startSleep(ticket, for: duration, $0) }
            } onCancel: {
                wake(ticket)
            }
        }
    }

    private func startSleep(_ ticket: Int, for duration: Duration, _ continuation: CheckedContinuation<Void, any Error>)
    {
        guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
        let ready: [Watcher]? = state.withLock { state in
            let deadline = state.now + duration
            guard deadline > state.now else { return nil }
            let place = state.sleepers.firstIndex { $0.deadline > deadline } ?? state.sleepers.endIndex
            state.sleepers.insert(Sleeper(ticket: ticket, deadline: deadline, wake: continuation), at: place)
            let count = state.sleepers.count
            let ready = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return ready
        }
        guard let ready else { return continuation.resume() }
        for watcher in ready { watcher.ready.resume() }
        // If the task was cancelled between the first check and the wait, nothing else wakes it.
        if Task.isCancelled { wake(ticket) }
    }

    private func wake(_ ticket: Int) {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let place = state.sleepers.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.sleepers.remove(at: place)
        }
        sleeper?.wake.resume(throwing: CancellationError())
    }
}
