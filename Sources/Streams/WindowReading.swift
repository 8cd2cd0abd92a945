/// Why a window of the app's notifications is read.
///
/// The key of the work item contains it.
///
/// Apple retries a failed delivery 1, 12, 24, 48 and 72 hours after the previous attempt, so one reading shows only the
/// attempts until then. Some notifications also enter Apple's history late. Source: Responding to App Store Server
/// Notifications, read 2026-11.
package enum WindowReading: Hashable, Sendable, CaseIterable {
    /// The first reading of this time by the job.
    case first
    /// The second reading of a day, ``secondReadingDelay`` after the day ended.
    case second
    /// A closed day that is read again because the receiver has notifications that the history did not list.
    case again
    /// The failed deliveries of the last seven days.
    ///
    /// Apple's `onlyFailures` returns "the notifications that failed to reach your server, including those that the App
    /// Store server is currently retrying". Notifications that were delivered in the meantime are not in that answer.
    /// Their attempts are found by the second reading of their day.
    case failures

    /// The time from Apple's first delivery attempt to the last: 1 + 12 + 24 + 48 + 72 hours.
    package static let retryTime = Duration.seconds(157 * 3_600)

    /// How long after its end a UTC day is read for the second time.
    ///
    /// Longer than ``retryTime``, so that all delivery attempts of the day are complete.
    package static let secondReadingDelay = Duration.seconds(7 * 86_400)

    /// How far back failed deliveries are read again.
    ///
    /// Older ones are covered by the second reading.
    package static let failuresReach = Duration.seconds(7 * 86_400)

    /// The end of the item key of a second reading.
    package static let secondSuffix = "+second"

    /// The end of the item key of a day that is read again for the receiver.
    package static let againSuffix = "+again"

    /// The beginning of the item key for failed deliveries.
    package static let failuresPrefix = "failures#"

    /// - Parameter itemKey: The key of an app-wide window.
    package init(itemKey: String) {
        if itemKey.hasSuffix(Self.secondSuffix) {
            self = .second
        } else if itemKey.hasSuffix(Self.againSuffix) {
            self = .again
        } else if itemKey.hasPrefix(Self.failuresPrefix) {
            self = .failures
        } else {
            self = .first
        }
    }

    /// Whether the whole day has been read before, so that notifications that are new now entered the history late.
    package var isRepeated: Bool { self == .second || self == .again }
}

extension WorkItem {
    /// Why the window is read; ``WindowReading/first`` for items that are not app-wide windows.
    package var reading: WindowReading { WindowReading(itemKey: key) }
}
