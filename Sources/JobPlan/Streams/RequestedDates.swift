package import AppStoreModel

/// The dates that requests of a stream name, as a job file writes them.
package struct RequestedDates: Equatable, Sendable {
    package let startDate: DateExpression
    /// Never ``DateExpression/lastRun``.
    package let endDate: DateExpression
    /// How long before the end of the last reading the next one begins, from zero to ``longestOverlap``.
    ///
    /// Late entries reach Apple's notification history after newer ones.
    package let overlap: Duration

    /// ``overlap`` when the file names none.
    package static let usualOverlap = Duration.seconds(3_600)
    package static let longestOverlap = Duration.seconds(7 * 86_400)

    /// The moments to request, frozen at `now`; never older than ``AppStoreModel/AppStoreEnvironment/oldestNotification(at:)``.
    ///
    /// - Parameters:
    ///   - now: When the run began.
    ///   - lastRun: Until when an earlier run of this job has asked; `nil` reaches back as far as Apple does.
    ///   - environment: Decides how far back Apple reaches.
    /// - Returns: What to request, and the gap before it if there is one.
    package func span(
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds?,
        in environment: AppStoreEnvironment
    ) -> RequestedSpan {
        let oldest = environment.oldestNotification(at: now)
        let start = startDate.resolve(now: now, lastRun: lastRun) ?? oldest
        // Tomorrow's notifications do not exist yet; asking for them would mark them as seen.
        let end = min(endDate.resolve(now: now, lastRun: lastRun) ?? now, now)
        guard start < end else { return RequestedSpan(asked: start..<start, unreachable: nil) }
        // A job that requests all that Apple has gets it, and nothing is missing.
        let isOutOfReach = start < now - environment.notificationReach
        return RequestedSpan(
            asked: min(max(start, oldest), end)..<end,
            unreachable: isOutOfReach ? start..<min(oldest, end) : nil
        )
    }

    /// Windows of a run for the whole app that follows another: those since then, with the overlap, and one for failed
    /// deliveries; second readings of earlier days are not counted.
    func countLaterWindows(
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds,
        in environment: AppStoreEnvironment
    ) -> Int {
        let end = min(endDate.resolve(now: now, lastRun: lastRun) ?? now, now)
        let begin = max(lastRun - overlap, environment.oldestNotification(at: now))
        let readsFailures =
            startDate == .lastRun && environment == .production && now - WindowReading.failuresReach < min(begin, end)
        return NotificationWindows.slices(from: begin, to: end).count + (readsFailures ? 1 : 0)
    }
}

/// What a stream with dates can request, and what it would have requested if Apple still had it.
package struct RequestedSpan: Equatable, Sendable {
    /// Empty when there is nothing to request.
    package let asked: Range<UnixMilliseconds>
    /// Older than Apple keeps; a gap to record.
    package let unreachable: Range<UnixMilliseconds>?
}
