package import AppStoreModel

/// How notification history is crawled.
package struct NotificationStream: Equatable, Sendable {
    package enum Scope: String, CaseIterable, Sendable {
        /// One crawl for each transaction ID.
        case transactions
        /// The whole app, in windows of at most a day.
        case app
    }

    package let scope: Scope
    /// ``DateExpression/lastRun`` when the file names none.
    package let startDate: DateExpression
    /// ``DateExpression/now`` when the file names none; never ``DateExpression/lastRun``.
    package let endDate: DateExpression
    package let onlyFailures: Bool
    /// Only with ``Scope/app``: Apple refuses a type together with a transaction ID (4000019).
    package let notificationType: String?
    /// Only together with ``notificationType``.
    package let notificationSubtype: String?
    /// How long before the end of the last reading the next one begins, from zero to ``longestOverlap``.
    ///
    /// Late entries reach Apple's notification history after newer ones.
    package let overlap: Duration

    /// ``overlap`` when the file names none.
    package static let usualOverlap = Duration.seconds(3_600)
    package static let longestOverlap = Duration.seconds(7 * 86_400)

    /// The moments to ask for, frozen at `now`; never older than ``AppStoreEnvironment/oldestNotification(at:)``.
    ///
    /// - Parameters:
    ///   - now: When the run first asks.
    ///   - lastRun: Until when an earlier run of this job has asked; `nil` reaches back as far as Apple does.
    ///   - environment: Says how far back Apple reaches.
    /// - Returns: What to ask for, and the gap before it if there is one.
    package func span(
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds?,
        in environment: AppStoreEnvironment
    ) -> NotificationSpan {
        let oldest = environment.oldestNotification(at: now)
        let start = startDate.resolve(now: now, lastRun: lastRun) ?? oldest
        // Tomorrow's notifications do not exist yet; asking for them would mark them as seen.
        let end = min(endDate.resolve(now: now, lastRun: lastRun) ?? now, now)
        guard start < end else { return NotificationSpan(asked: start..<start, unreachable: nil) }
        // Whoever asks for as much as Apple has gets that, and lacks nothing.
        let isOutOfReach = start < now - environment.notificationReach
        return NotificationSpan(
            asked: min(max(start, oldest), end)..<end,
            unreachable: isOutOfReach ? start..<min(oldest, end) : nil
        )
    }

    /// The body to ask with, for one window and, with ``Scope/transactions``, one ID.
    package func query(
        for window: Range<UnixMilliseconds>,
        transactionId: TransactionID? = nil,
        reading: WindowReading = .first
    ) -> NotificationQuery {
        var query = NotificationQuery(startDate: window.lowerBound, endDate: window.upperBound)
        query.transactionId = transactionId
        query.notificationType = notificationType
        query.notificationSubtype = notificationSubtype
        query.onlyFailures = onlyFailures || reading == .failures ? true : nil
        return query
    }
}

/// What a notification crawl can ask for, and what it would have asked for if Apple still had it.
package struct NotificationSpan: Equatable, Sendable {
    /// Empty when there is nothing to ask for.
    package let asked: Range<UnixMilliseconds>
    /// Older than Apple keeps; a gap to record.
    package let unreachable: Range<UnixMilliseconds>?
}
