package import AppStoreModel

/// The dates of a stream's requests, as written in the job file.
package struct RequestedDates: Equatable, Sendable {
    package let startDate: DateExpression
    /// Never ``DateExpression/lastRun``.
    package let endDate: DateExpression
    /// How long before the end of the last run's time the next one begins, from zero to ``longestOverlap``.
    ///
    /// Some notifications enter Apple's history after newer ones.
    package let overlap: Duration

    /// The ``overlap`` of a file that names none.
    package static let defaultOverlap = Duration.seconds(3_600)
    package static let longestOverlap = Duration.seconds(7 * 86_400)

    /// The time to request, fixed at `now`.
    ///
    /// It never starts before ``AppStoreModel/AppStoreEnvironment/oldestNotification(at:)``.
    ///
    /// - Parameters:
    ///   - now: When the run began.
    ///   - lastRun: The end of the time that an earlier run of this job requested. With `nil`, the date `lastRun` means
    ///     the oldest date that Apple serves.
    ///   - environment: Determines the oldest date that Apple serves.
    /// - Returns: The time to request, and the gap before it if there is one.
    package func span(
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds?,
        in environment: AppStoreEnvironment
    ) -> RequestedSpan {
        let oldest = environment.oldestNotification(at: now)
        let start = startDate.resolve(now: now, lastRun: lastRun) ?? oldest
        // Never later than now: future notifications do not exist yet, but their time would count as covered.
        let end = min(endDate.resolve(now: now, lastRun: lastRun) ?? now, now)
        guard start < end else { return RequestedSpan(asked: start..<start, unreachable: nil) }
        // A job that requests everything Apple has is not missing anything.
        let isOutOfReach = start < now - environment.notificationReach
        return RequestedSpan(
            asked: min(max(start, oldest), end)..<end,
            unreachable: isOutOfReach ? start..<min(oldest, end) : nil
        )
    }

    /// The number of app-wide windows of a run after an earlier one: those since `lastRun`, with the overlap, and one
    /// for failed deliveries.
    ///
    /// Second readings of earlier days are not counted.
    package func countLaterWindows(
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

/// The time that a stream can request, and the time before it that Apple no longer serves.
package struct RequestedSpan: Equatable, Sendable {
    /// Empty if there is nothing to request.
    package let asked: Range<UnixMilliseconds>
    /// Time before the oldest date that Apple serves; it is recorded as a gap.
    package let unreachable: Range<UnixMilliseconds>?
}
