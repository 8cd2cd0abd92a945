import Synchronization

/// A value that the first caller makes, and that all later ones get.
package final class MadeOnce<Value: Sendable>: Sendable {
    private let make: @Sendable () async throws -> Value
    private let task = Mutex<Task<Value, any Error>?>(nil)

    package init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

    package var value: Value {
        get async throws {
            let make = make
            return try await task.withLock { task in
                // Detached, so that the end of the test that comes first does not cancel it.
                let made = task ?? Task.detached { try await make() }
                task = made
                return made
            }.value
        }
    }
}
