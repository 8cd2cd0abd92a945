package import AppStoreModel

/// Divides the time of an app-wide notification crawl into windows.
package enum NotificationWindows {
    /// The windows from `start` to `end`, divided at every UTC midnight.
    ///
    /// Each window begins at the end of the one before and lasts at most a day. Its end is exclusive.
    ///
    /// - Returns: No windows if `end` is not after `start`.
    package static func slices(from start: UnixMilliseconds, to end: UnixMilliseconds) -> [Range<UnixMilliseconds>] {
        var windows: [Range<UnixMilliseconds>] = []
        var lower = start
        while lower < end {
            let upper = min(midnight(after: lower), end)
            windows.append(lower..<upper)
            lower = upper
        }
        return windows
    }

    private static let millisecondsPerDay: Int64 = 86_400_000

    private static func midnight(after moment: UnixMilliseconds) -> UnixMilliseconds {
        let sinceMidnight = moment.rawValue % millisecondsPerDay
        // The remainder is negative for a moment before 1970.
        let elapsed = sinceMidnight < 0 ? sinceMidnight + millisecondsPerDay : sinceMidnight
        return UnixMilliseconds(rawValue: moment.rawValue - elapsed + millisecondsPerDay)
    }
}
