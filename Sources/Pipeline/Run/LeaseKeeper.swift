import JobPlan
import Ledger
import Synchronization
import Basics

/// Keeps this process's leases alive, and knows which of them can still be relied on.
///
/// The rule of a trust window: a lease counts from the moment before it was asked for, on a clock that goes on while
/// the machine sleeps, and for less time than the ledger gives it. A process that was stopped for minutes therefore
/// sends nothing when it wakes.
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

    /// Notes leases that were asked for at `asked`, on the monotonic clock.
    func took(_ items: [WorkItem], asked: Duration) {
        trustedUntil.withLock { trusted in
            for item in items { trusted[HeldItem(item)] = asked + LeaseHolder.trustedLife }
        }
    }

    /// Whether the lease can still be relied on; when not, the worker drops the item, and it is not renewed any more.
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

    /// Renews every lease again and again, until cancelled.
    ///
    /// - Throws: `CancellationError`, and the ledger's error once it has not answered for a minute.
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
