import Basics
import Ledger
import Synchronization

/// Hands out the rows of a batch to the workers one at a time.
///
/// Only a few rows are leased ahead, because other processes cannot send leased rows.
final class RowFeed: Sendable {
    /// How long ``next()`` waits at most before it looks for a row again.
    private static let longestWait = Duration.milliseconds(200)

    private let queue: RowQueue
    private let leases: LeaseKeeper<HeldRow>
    private let batch: Int
    private let time: Timekeeper
    private let isStopped: @Sendable () -> Bool
    /// Leased rows that no worker has yet.
    private let ready = Mutex<[LeasedRow]>([])

    /// - Parameters:
    ///   - batch: The most rows that are leased at once.
    ///   - time: Its monotonic clock and its sleep.
    ///   - isStopped: Whether no further row may be begun.
    init(
        queue: RowQueue,
        leases: LeaseKeeper<HeldRow>,
        batch: Int,
        time: Timekeeper,
        isStopped: @escaping @Sendable () -> Bool
    ) {
        self.queue = queue
        self.leases = leases
        self.batch = batch
        self.time = time
        self.isStopped = isStopped
    }

    /// Returns the next row for a worker; waits while other processes have the rest.
    ///
    /// Returns `nil` when no row is left, and after a stop.
    func next() async throws -> LeasedRow? {
        while !isStopped() {
            try Task.checkCancellation()
            if let row = take() { return row }
            let requestedAt = time.monotonic()
            switch try await queue.lease(atMost: batch) {
            case .rows(let rows):
                crashPoint(.leaseAcknowledged)
                leases.add(rows.map(\.lease), requestedAt: requestedAt)
                ready.withLock { $0 = rows }
            case .later(let wait): try await time.sleep(min(wait, Self.longestWait))
            case .drained:
                // A row in progress has a lease, and would be seen as one that is available later.
                return nil
            }
        }
        return nil
    }

    private func take() -> LeasedRow? {
        ready.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
