package import AppStoreModel

/// Cuts the time an app-wide notification crawl covers into work items.
package enum NotificationWindows {
    /// The windows from `start` to `end`, cut at every UTC midnight.
    ///
    /// Each begins where the one before ends and lasts at most a day; the end is not part of it.
    /// - Returns: No windows when `end` is not after `start`.
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
        // The remainder of a moment before 1970 is negative.
        let elapsed = sinceMidnight < 0 ? sinceMidnight + millisecondsPerDay : sinceMidnight
        return UnixMilliseconds(rawValue: moment.rawValue - elapsed + millisecondsPerDay)
    }
}
