/// The output of `plan`: the amount of work, and how long it takes under Apple's limits.
///
/// Its JSON form is stable.
package struct PlanReport: Codable, Sendable {
    package struct Line: Codable, Sendable {
        package let stream: String
        package let items: Int
        /// At least one page for each item; items with more than twenty records need more.
        package let requestsAtLeast: Int
        /// The fewest requests of a run one night later, for all notifications of the app.
        ///
        /// Includes days that are read again.
        package let nightlyRequestsAtLeast: Int?
        package let secondsAtAppleLimit: Double
        package let secondsAtShare: Double
        package let remark: String?
    }

    package let job: String
    package let transactionIds: Int
    package let duplicates: Int
    /// Whether the two figures above are estimates: a list of more than a million IDs is counted from a sample.
    package let transactionIdsAreEstimated: Bool
    package let share: Double
    package let streams: [Line]
    /// The time of the slowest stream, because streams run in parallel, plus refunds of revoked purchases,
    /// which run last.
    package let secondsAtAppleLimit: Double
    package let secondsAtShare: Double
    /// Assumptions of the two figures.
    package let remark: String?
}
