import Synchronization

/// Blocks callers until the test opens it.
final class Latch: Sendable {
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
