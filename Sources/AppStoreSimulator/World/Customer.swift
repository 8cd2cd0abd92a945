/// A customer with all purchases.
struct Customer: Sendable, Equatable {
    let identity: CustomerIdentity
    var transactions: [Transaction] = []
    /// How many of the customer's IDs the store knows.
    ///
    /// At least 1, because a known ID can have an empty history.
    var idsInUse: Int { max(1, transactions.count) }
}

/// The properties of a customer that are the same in all transactions.
///
/// A class, so that all records of the customer share one instance.
final class CustomerIdentity: Sendable {
    let index: Int
    let storefront: Storefront
    /// Optional for apps.
    ///
    /// Two of three customers have one.
    let appAccountToken: String?
    /// 18 digits.
    let appTransactionId: String

    /// - `storefront`: `nil` for one that the seed determines.
    init(index: Int, seed: UInt64, storefront wanted: Storefront? = nil) {
        self.index = index
        var random = SplitMix64(seed: seed, path: 2, UInt64(index))
        let usual = Storefront.all[(index + random.below(2)) % Storefront.all.count]
        storefront = wanted ?? usual
        let token = random.uuid()
        appAccountToken = index % 3 == 2 ? nil : token
        appTransactionId = String(
            Self.firstAppTransaction + UInt64(index) * Self.step + UInt64(random.below(1_000_000))
        )
    }

    private static let firstAppTransaction: UInt64 = 704_000_000_000_000_000
    private static let step: UInt64 = 1_000_003

    /// The index that a customer with this app transaction ID has; `nil` for a text that is no app transaction ID.
    ///
    /// The customer with the index can have another ID.
    static func index(ofAppTransaction id: String) -> Int? {
        guard let number = UInt64(id), number >= firstAppTransaction else { return nil }
        return Int((number - firstAppTransaction) / step)
    }
}

extension CustomerIdentity: Equatable {
    /// The index identifies a customer within one world.
    static func == (left: CustomerIdentity, right: CustomerIdentity) -> Bool { left.index == right.index }
}
