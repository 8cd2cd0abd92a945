package import AppStoreModel
package import JobSyntax

/// The dates of a stream's requests, as written in the job file.
package struct RequestedDates: Equatable, Sendable {
    package let startDate: DateExpression
    /// Never ``DateExpression/lastRun``.
    package let endDate: DateExpression
    /// The last part of the previous run's time, which a run requests again: zero to ``longestOverlap``.
    ///
    /// Some notifications enter Apple's history late, after newer ones. The overlap finds them.
    package let overlap: Duration

    /// The ``overlap`` of a job file that sets none.
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
        guard start < end else { return RequestedSpan(requested: start..<start, unreachable: nil) }
        // A job that starts at Apple's limit wants everything that Apple has. The ten minutes that it then loses before
        // `oldest` are not a gap.
        let isOutOfReach = start < now - environment.notificationReach
        return RequestedSpan(
            requested: min(max(start, oldest), end)..<end,
            unreachable: isOutOfReach ? start..<min(oldest, end) : nil
        )
    }

    /// The number of app-wide windows in a run that follows an earlier one.
    ///
    /// It counts the windows from `lastRun` minus the overlap, and one window for failed deliveries. It does not count
    /// second readings of earlier days.
    package func countLaterWindows(
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds,
        in environment: AppStoreEnvironment
    ) -> Int {
        let end = min(endDate.resolve(now: now, lastRun: lastRun) ?? now, now)
        let start = max(lastRun - overlap, environment.oldestNotification(at: now))
        let readsFailures =
            startDate == .lastRun && environment == .production && now - WindowReading.failuresReach < min(start, end)
        return NotificationWindows.slices(from: start, to: end).count + (readsFailures ? 1 : 0)
    }
}

/// The time that a stream can request, and the time before it that Apple no longer serves.
package struct RequestedSpan: Equatable, Sendable {
    /// Empty if there is nothing to request.
    package let requested: Range<UnixMilliseconds>
    /// Time before the oldest date that Apple serves; it is recorded as a gap.
    package let unreachable: Range<UnixMilliseconds>?
}
