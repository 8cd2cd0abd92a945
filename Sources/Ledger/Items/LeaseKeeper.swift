package import Basics
import Synchronization

/// Renews this process's leases, and knows which of them are still safe to use.
///
/// A lease is trusted for less time than the ledger grants, counted from before it was requested. The clock continues
/// while the machine sleeps. So a process that was suspended for minutes sends nothing when it continues.
///
/// `Lease` identifies one lease, with the epoch that a new lease of the same item increases.
package final class LeaseKeeper<Lease: Hashable & Sendable>: Sendable {
    private let time: Timekeeper
    private let renew: @Sendable ([Lease]) async throws -> [Lease]
    private let trustedUntil = Mutex<[Lease: Duration]>([:])

    /// - Parameters:
    ///   - time: Its monotonic clock and its sleep.
    ///   - renew: Renews leases in the ledger, and returns the leases that this process still has.
    package init(time: Timekeeper, renew: @escaping @Sendable ([Lease]) async throws -> [Lease]) {
        self.time = time
        self.renew = renew
    }

    /// Adds leases that were requested at `requestedAt`, on the monotonic clock.
    package func add(_ leases: [Lease], requestedAt: Duration) {
        trustedUntil.withLock { trusted in
            for lease in leases { trusted[lease] = requestedAt + LeaseHolder.trustedLife }
        }
    }

    /// Whether the lease is still safe to use.
    ///
    /// If not, the lease is no longer renewed, and the worker must drop the item.
    package func holds(_ lease: Lease) -> Bool {
        let now = time.monotonic()
        return trustedUntil.withLock { trusted in
            if trusted[lease, default: .zero] > now { return true }
            trusted[lease] = nil
            return false
        }
    }

    /// Stops renewing the lease.
    package func remove(_ lease: Lease) {
        trustedUntil.withLock { _ = $0.removeValue(forKey: lease) }
    }

    /// Renews all leases at a fixed interval until cancelled.
    ///
    /// - Throws: `CancellationError`, or the ledger's error if it has not responded for a minute.
    package func run() async throws {
        while true {
            try await time.sleep(LeaseHolder.heartbeatInterval)
            let requestedAt = time.monotonic()
            let leases = trustedUntil.withLock { Array($0.keys) }
            let renewed = Set(try await renew(leases))
            trustedUntil.withLock { trusted in
                for lease in trusted.keys where renewed.contains(lease) {
                    trusted[lease] = requestedAt + LeaseHolder.trustedLife
                }
            }
        }
    }
}
