import AppStoreModel

/// The input from which a world is generated.
///
/// The same parameters give the same payloads, byte for byte, except for the signing dates of transactions.
struct WorldParameters: Sendable, Equatable {
    var seed: UInt64
    var customers: Int
    /// The mean.
    ///
    /// Each customer has 0 to ``mostTransactions``.
    var transactionsPerCustomer: Int
    var environment: AppStoreEnvironment
    /// The moment of the world: all purchases are before it.
    var anchor: UnixMilliseconds
    /// The history lists one notification in this many late; 0 for none.
    var lateNotifications = 0
    /// After how many status requests a request to extend all subscriptions is complete; 0 means at once.
    var massExtensionRequests = SimulatorConfiguration.defaultMassExtensionRequests
    /// After how many lists of images or messages their review ends; 0 means at once.
    var reviewRequests = SimulatorConfiguration.defaultReviewRequests
    /// Further customers, with one active Advanced Commerce subscription each.
    var advancedCommerceSubscribers = 0
    /// Further customers, with one active subscription of several seats each.
    var seatSubscribers = 0
    var bundleId = SimulatorConfiguration.defaultBundleId
    /// The place of the app among its account's apps, from 0.
    var place = 0
    /// Determines the key, which all apps of an account share; ``seed`` if it is `nil`.
    var account: UInt64?

    var accountSeed: UInt64 { account ?? seed }

    static let mostTransactions = 200
}
