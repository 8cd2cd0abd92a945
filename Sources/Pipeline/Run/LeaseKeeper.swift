import Basics
import JobPlan
import Ledger
import Synchronization

/// Renews this process's leases, and knows which of them are still safe to use.
///
/// A lease is trusted for less time than the ledger grants, counted from before it was requested. The clock continues
/// while the machine sleeps. So a process that was suspended for minutes sends nothing when it continues.
final class LeaseKeeper: Sendable {
    private let ledger: Ledger
    private let holder: LeaseHolder
    private let time: Timekeeper
    private let trustedUntil = Mutex<[HeldItem: Duration]>([:])

    init(ledger: Ledger, holder: LeaseHolder, time: Timekeeper) {
        self.ledger = ledger
        self.holder = holder
        self.time = time
    }

    /// Adds leases that were requested at `requestedAt`, on the monotonic clock.
    func add(_ items: [WorkItem], requestedAt: Duration) {
        trustedUntil.withLock { trusted in
            for item in items { trusted[HeldItem(item)] = requestedAt + LeaseHolder.trustedLife }
        }
    }

    /// Whether the lease is still safe to use.
    ///
    /// If not, the lease is no longer renewed, and the worker must drop the item.
    func holds(_ item: WorkItem) -> Bool {
        let now = time.monotonic()
        return trustedUntil.withLock { trusted in
            if trusted[HeldItem(item), default: .zero] > now { return true }
            trusted[HeldItem(item)] = nil
            return false
        }
    }

    /// Stops renewing the item's lease.
    func remove(_ item: WorkItem) {
        trustedUntil.withLock { _ = $0.removeValue(forKey: HeldItem(item)) }
    }

    /// Renews all leases at a fixed interval until cancelled.
    ///
    /// - Throws: `CancellationError`, or the ledger's error if it has not responded for a minute.
    func run() async throws {
        while true {
            try await time.sleep(LeaseHolder.heartbeatInterval)
            let requestedAt = time.monotonic()
            let items = trustedUntil.withLock { Array($0.keys) }
            let renewed = Set(try await ledger.renewLeases(of: items, for: holder))
            trustedUntil.withLock { trusted in
                for item in trusted.keys where renewed.contains(item) {
                    trusted[item] = requestedAt + LeaseHolder.trustedLife
                }
            }
        }
    }
}
