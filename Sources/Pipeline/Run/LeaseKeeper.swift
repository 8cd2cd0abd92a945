import Basics
import JobPlan
import Ledger
import Synchronization

/// Renews this process's leases, and knows which of them are still safe to use.
///
/// A lease is trusted from the moment before its request, and for less time than the ledger grants. The clock continues
/// while the machine sleeps. So a process that was stopped for minutes sends nothing when it wakes.
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

    /// Records leases that were requested at `asked`, on the monotonic clock.
    func took(_ items: [WorkItem], asked: Duration) {
        trustedUntil.withLock { trusted in
            for item in items { trusted[HeldItem(item)] = asked + LeaseHolder.trustedLife }
        }
    }

    /// Whether the lease is still safe to use.
    ///
    /// If not, the worker drops the item, and the lease is no longer renewed.
    func holds(_ item: WorkItem) -> Bool {
        let now = time.monotonic()
        return trustedUntil.withLock { trusted in
            if trusted[HeldItem(item), default: .zero] > now { return true }
            trusted[HeldItem(item)] = nil
            return false
        }
    }

    func letGo(of item: WorkItem) {
        trustedUntil.withLock { _ = $0.removeValue(forKey: HeldItem(item)) }
    }

    /// Renews all leases at a fixed interval until cancelled.
    ///
    /// - Throws: `CancellationError`, or the ledger's error if it has not responded for a minute.
    func run() async throws {
        while true {
            try await time.sleep(LeaseHolder.heartbeatInterval)
            let asked = time.monotonic()
            let relied = trustedUntil.withLock { Array($0.keys) }
            let held = Set(try await ledger.renewLeases(of: relied, for: holder))
            trustedUntil.withLock { trusted in
                for item in trusted.keys where held.contains(item) { trusted[item] = asked + LeaseHolder.trustedLife }
            }
        }
    }
}
