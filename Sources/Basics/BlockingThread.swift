import Dispatch

/// Runs an actor's jobs on its own dispatch queue, so that a blocking C call blocks the queue's thread instead of a
/// thread of Swift's task pool.
///
/// 2026-11-21: `DispatchSerialQueue` is missing on Linux in 6.3.1; delete this class when it arrives.
package final class BlockingThread: SerialExecutor {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Runs a blocking function on a thread outside Swift's task pool.
package func onBlockingThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}
