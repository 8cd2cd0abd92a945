import AppStoreModel

/// What a world is made from.
///
/// The same parameters make the same world, byte for byte.
struct WorldParameters: Sendable, Equatable {
    var seed: UInt64
    var customers: Int
    /// The mean; single customers have between 0 and 200.
    var transactionsPerCustomer: Int
    var environment: AppStoreEnvironment
    /// The moment the world is looked at: everything in it happened before.
    var anchor: UnixMilliseconds

    static let mostTransactions = 200
}
