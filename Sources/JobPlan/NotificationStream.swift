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

    /// The moments to ask for, frozen at `now`.
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
        let reach = now - environment.notificationReach
        // What is at the very edge now is beyond it by the time the request arrives, and Apple then refuses the window.
        let oldest = reach + Self.edge
        let start = startDate.resolve(now: now, lastRun: lastRun) ?? reach
        // Tomorrow's notifications do not exist yet; asking for them would mark them as seen.
        let end = min(endDate.resolve(now: now, lastRun: lastRun) ?? now, now)
        guard start < end else { return NotificationSpan(asked: start..<start, unreachable: nil) }
        guard start < oldest else { return NotificationSpan(asked: start..<end, unreachable: nil) }
        guard oldest < end else { return NotificationSpan(asked: end..<end, unreachable: start..<end) }
        // Whoever asks for as much as Apple has gets that.
        return NotificationSpan(asked: oldest..<end, unreachable: start < reach ? start..<oldest : nil)
    }

    /// How far inside Apple's reach a crawl begins at the earliest: requests wait for their turn.
    package static let edge = Duration.seconds(3_600)

    /// The body to ask with, for one window and, with ``Scope/transactions``, one ID.
    package func query(for window: Range<UnixMilliseconds>, transactionId: TransactionID? = nil) -> NotificationQuery {
        var query = NotificationQuery(startDate: window.lowerBound, endDate: window.upperBound)
        query.transactionId = transactionId
        query.notificationType = notificationType
        query.notificationSubtype = notificationSubtype
        query.onlyFailures = onlyFailures ? true : nil
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
