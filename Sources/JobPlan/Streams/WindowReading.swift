/// Why a window of the app's notifications is read; the key of its work item says which.
///
/// Apple retries a failed delivery at 1, 12, 24, 48 and 72 hours after the attempt before, so a window that is read once
/// knows only the attempts up to then. Some notifications also enter Apple's history late.
/// Source: Responding to App Store Server Notifications, read 2026-11.
package enum WindowReading: Hashable, Sendable, CaseIterable {
    /// The job has not read this time yet.
    case first
    /// The day has been read; it is read once more ``secondReadingDelay`` after it closed.
    case second
    /// Deliveries of the last seven days that have failed so far.
    ///
    /// Apple's `onlyFailures` returns "the notifications that failed to reach your server, including those that the App
    /// Store server is currently retrying". A notification that was delivered meanwhile is absent from that answer, and
    /// its attempts become known with the second reading of its day.
    case failures

    /// From the first attempt to the last one of Apple's retries: 1 + 12 + 24 + 48 + 72 hours.
    package static let retryTime = Duration.seconds(157 * 3_600)

    /// How long after a UTC day has closed it is read for the second time.
    ///
    /// Longer than ``retryTime``, so that the attempts of every notification of the day are final by then.
    package static let secondReadingDelay = Duration.seconds(7 * 86_400)

    /// How far back failed deliveries are read again; older ones have had their second reading.
    package static let failuresReach = Duration.seconds(7 * 86_400)

    /// What follows the filters in the key of a second reading's item.
    package static let secondSuffix = "+second"

    /// What the key of the one item for failed deliveries begins with.
    package static let failuresPrefix = "failures#"

    /// - Parameter itemKey: Of a window of the app's notifications.
    package init(itemKey: String) {
        if itemKey.hasSuffix(Self.secondSuffix) {
            self = .second
        } else if itemKey.hasPrefix(Self.failuresPrefix) {
            self = .failures
        } else {
            self = .first
        }
    }
}

extension WorkItem {
    /// Why its window is read; ``WindowReading/first`` for every item that is not a window of the app.
    package var reading: WindowReading { WindowReading(itemKey: key) }
}
