/// When Apple tries again after an attempt that failed.
///
/// Source: "Responding to App Store Server Notifications", read 2026-11.
struct RetrySchedule: Sendable, Equatable {
    /// The pauses after the first, second, … attempt, in milliseconds; none in the sandbox.
    let pauses: [Int64]

    /// Apple's own pauses for version 2, in production.
    static let versionTwo = RetrySchedule(hours: [1, 12, 24, 48, 72])
    static let versionOne = RetrySchedule(hours: [6, 24, 48])
    /// The sandbox tries once.
    static let sandbox = RetrySchedule(hours: [])

    private init(hours: [Int64], speed: Int64 = 1) {
        pauses = hours.map { $0 * Moment.hour / speed }
    }

    /// - `speed`: Divides the pauses.
    init(_ version: DeliverySettings.Version, retries: Bool, speed: Int) {
        let schedule: RetrySchedule =
            switch version {
            case _ where !retries: .sandbox
            case .two: .versionTwo
            case .one: .versionOne
            }
        pauses = schedule.pauses.map { $0 / Int64(speed) }
    }
}
