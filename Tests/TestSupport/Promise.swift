import Synchronization

/// A value that is set once and that many tasks can wait for.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open([CheckedContinuation<Value, Never>])
        case fulfilled(Value)
    }

    private let state = Mutex(State.open([]))

    package init() {}

    package var value: Value {
        get async {
            await withCheckedContinuation { waiter in
                let value = state.withLock { state -> Value? in
                    guard case .open(let waiters) = state else {
                        if case .fulfilled(let value) = state { return value }
                        return nil
                    }
                    state = .open(waiters + [waiter])
                    return nil
                }
                if let value { waiter.resume(returning: value) }
            }
        }
    }

    package var isFulfilled: Bool {
        state.withLock { state in
            if case .fulfilled = state { true } else { false }
        }
    }

    /// Sets the value, under the lock of ``unlessFulfilled(_:)``.
    package func fulfill(_ make: () -> Value) {
        let (value, waiters) = state.withLock { state in
            guard case .open(let waiters) = state else { preconditionFailure("a promise is fulfilled once") }
            let value = make()
            state = .fulfilled(value)
            return (value, waiters)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Runs `body` unless the value is set.
    package func unlessFulfilled(_ body: () -> Void) {
        state.withLock { state in
            if case .open = state { body() }
        }
    }
}
