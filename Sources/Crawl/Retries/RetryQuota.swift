import Synchronization

/// Limits the retries of a run.
///
/// Retries help against single faults but make an outage worse. Each retry costs ``cost`` units, and each success
/// returns one. So the quota never runs out at a low rate of faults. In an outage it runs out, and then each page is
/// requested only once. The figures are from the AWS SDKs' standard retry mode.
package struct RetryQuota: Equatable, Sendable {
    package static let capacity = 500
    package static let cost = 5

    /// 0 to ``capacity``.
    package private(set) var remaining = Self.capacity

    package init() {}

    /// Takes one retry from the quota.
    ///
    /// Returns `false` if the quota is used up; then do not retry.
    package mutating func payForRetry() -> Bool {
        guard remaining >= Self.cost else { return false }
        remaining -= Self.cost
        return true
    }

    /// Records a request that was answered with a page.
    package mutating func succeeded() {
        remaining = min(remaining + 1, Self.capacity)
    }
}

/// One quota for all workers of a run.
package final class SharedRetryQuota: Sendable {
    private let quota = Mutex(RetryQuota())

    package init() {}

    package var remaining: Int { quota.withLock(\.remaining) }

    /// See ``RetryQuota/payForRetry()``.
    package func payForRetry() -> Bool {
        quota.withLock { $0.payForRetry() }
    }

    /// See ``RetryQuota/succeeded()``.
    package func succeeded() {
        quota.withLock { $0.succeeded() }
    }
}
