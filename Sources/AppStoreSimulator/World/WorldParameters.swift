import AppStoreModel

/// What a world is made from.
///
/// The same parameters make the same world: the same payloads, byte for byte, but for the date at which an answer signs a
/// transaction.
struct WorldParameters: Sendable, Equatable {
    var seed: UInt64
    var customers: Int
    /// The mean; single customers have between 0 and 200.
    var transactionsPerCustomer: Int
    var environment: AppStoreEnvironment
    /// The moment the world is looked at: everything in it happened before.
    var anchor: UnixMilliseconds
    /// One notification in so many enters the history late; 0 for none.
    var lateNotifications = 0

    static let mostTransactions = 200
}
