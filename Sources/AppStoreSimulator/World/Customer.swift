/// A customer and everything they ever bought.
struct Customer: Sendable, Equatable {
    let identity: CustomerIdentity
    var transactions: [Transaction] = []
    /// How many of the customer's IDs are in use.
    ///
    /// At least 1: an ID can be known and its history empty.
    var idsInUse: Int { max(1, transactions.count) }
}

/// Who a customer is: what stays the same on all their transactions.
///
/// A class, so that every record of the customer only points to it.
final class CustomerIdentity: Sendable {
    let index: Int
    let storefront: Storefront
    /// Apps need not set one; two of three customers of this one have it.
    let appAccountToken: String?
    /// 18 digits.
    let appTransactionId: String

    init(index: Int, seed: UInt64) {
        self.index = index
        var random = SplitMix64(seed: seed, path: 2, UInt64(index))
        storefront = Storefront.all[(index + random.below(2)) % Storefront.all.count]
        let token = random.uuid()
        appAccountToken = index % 3 == 2 ? nil : token
        appTransactionId = String(704_000_000_000_000_000 + UInt64(index) * 1_000_003 + UInt64(random.below(1_000_000)))
    }
}

extension CustomerIdentity: Equatable {
    /// Within one world the index says it all.
    static func == (left: CustomerIdentity, right: CustomerIdentity) -> Bool { left.index == right.index }
}
