/// What `plan` says: how much there is to do and how long Apple's limits make it take.
///
/// Its JSON form is stable.
package struct PlanReport: Codable, Sendable {
    package struct Line: Codable, Sendable {
        package let stream: String
        package let items: Int
        /// One page for each item; more where an item has more than twenty records.
        package let requestsAtLeast: Int
        /// Of the whole app's notifications: the least that a run a night later needs, readings of earlier days included.
        package let nightlyRequestsAtLeast: Int?
        package let secondsAtAppleLimit: Double
        package let secondsAtShare: Double
        package let remark: String?
    }

    package let job: String
    package let transactionIds: Int
    package let duplicates: Int
    /// Whether the two figures above are an estimate: a list of more than a million IDs is counted by a sample.
    package let transactionIdsAreEstimated: Bool
    package let share: Double
    package let streams: [Line]
    /// Streams run side by side, so the slowest decides; only refunds of the revoked come after the rest, and are added.
    package let secondsAtAppleLimit: Double
    package let secondsAtShare: Double
    /// What the two figures suppose.
    package let remark: String?
}
