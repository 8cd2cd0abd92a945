import Synchronization

/// How many retries a run can still afford.
///
/// Retries help against single faults and make an outage worse. Each costs units, each success earns one back: a tenth
/// of faults can be retried for ever, an outage uses the quota up and then sees every page asked for once.
/// Figures of the AWS SDKs' standard retry mode.
package struct RetryQuota: Equatable, Sendable {
    package static let capacity = 500
    package static let cost = 5

    /// 0 to ``capacity``.
    package private(set) var remaining = Self.capacity

    package init() {}

    /// Pays for one retry; `false` when the quota is used up, and then the attempt must not be made.
    package mutating func payForRetry() -> Bool {
        guard remaining >= Self.cost else { return false }
        remaining -= Self.cost
        return true
    }

    /// Notes a request that was answered with a page.
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
