/// One subscription as Get All Subscription Statuses answers it at one moment.
struct SubscriptionStatus: Sendable {
    /// The subscription's latest transaction.
    let transaction: StoredTransaction
    let renewal: Renewal
    /// Since when the subscription has been in this state, in milliseconds since 1970.
    let since: Int64
    /// When the renewal info is signed, in milliseconds since 1970: later than every earlier state of the subscription.
    let signedDate: Int64

    var originalId: UInt64 { renewal.transaction.originalId }
    /// Apple's `status`, 1 to 5.
    var status: Int64 { renewal.state.status }
    /// Every auto-renewable subscription belongs to a group.
    var group: String { renewal.transaction.product.group ?? "" }
}
