/// A moment in Apple's notation: milliseconds since 1970-01-01T00:00:00Z.
///
/// Source: every date field and `Retry-After` of the App Store Server API.
package struct UnixMilliseconds: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The moment `duration` later; fractions of a millisecond are dropped.
    package static func + (moment: Self, duration: Duration) -> Self {
        Self(rawValue: moment.rawValue + duration.wholeMilliseconds)
    }

    package static func - (moment: Self, duration: Duration) -> Self {
        Self(rawValue: moment.rawValue - duration.wholeMilliseconds)
    }

    /// The time from `earlier` to `later`; negative if `later` is before `earlier`.
    package static func - (later: Self, earlier: Self) -> Duration {
        .milliseconds(later.rawValue - earlier.rawValue)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
