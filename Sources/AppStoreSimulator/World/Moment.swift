import AppStoreModel

/// Time spans in milliseconds, the unit of all dates in Apple's payloads.
enum Moment {
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000
    static let day: Int64 = 86_400_000

    /// The UTC midnight at or before `moment`.
    static func midnight(before moment: UnixMilliseconds) -> UnixMilliseconds {
        UnixMilliseconds(rawValue: moment.rawValue - moment.rawValue % day)
    }
}

extension Duration {
    static func days(_ days: Int64) -> Duration { .seconds(days * 86_400) }
}
