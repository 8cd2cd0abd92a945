/// One subscription of a `StatusResponse`, not yet verified.
///
/// Apple's schema requires none of the members. The signed records that are there load in any case; the status loads only if
/// all of its members are there.
///
/// Source: lastTransactionsItem, App Store Server API, read 2026-11.
package struct SubscriptionStatusItem: Equatable, Sendable {
    /// Apple does not sign it.
    package let subscriptionGroupIdentifier: String?
    /// Apple does not sign it.
    package let originalTransactionId: String?
    /// 1 active, 2 expired, 3 in billing retry, 4 in the grace period, 5 revoked; Apple can add values, and does not sign it.
    package let status: Int32?
    /// The JWS of the newest transaction.
    package let transaction: String?
    /// The JWS of the renewal info.
    package let renewalInfo: String?
    /// The first member that is missing or of another type: what was found and what it must be, without a full stop.
    ///
    /// `nil` if all members are there.
    package let problem: String?
    /// The element as JSON text, for rejections.
    package let text: String

    package init(
        subscriptionGroupIdentifier: String?,
        originalTransactionId: String?,
        status: Int32?,
        transaction: String?,
        renewalInfo: String?,
        problem: String? = nil,
        text: String
    ) {
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.originalTransactionId = originalTransactionId
        self.status = status
        self.transaction = transaction
        self.renewalInfo = renewalInfo
        self.problem = problem
        self.text = text
    }
}
