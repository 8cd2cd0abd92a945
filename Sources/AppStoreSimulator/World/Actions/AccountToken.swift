/// An app account token that the app's server has set for a transaction.
struct AccountToken: Sendable, Equatable {
    /// In milliseconds since 1970.
    let date: Int64
    /// A UUID in lower case.
    let token: String
}

extension Transaction {
    /// The `appAccountToken`; `nil` when neither the purchase nor the app's server has set one.
    func appAccountToken(of customer: CustomerIdentity) -> String? {
        accountTokens.last?.token ?? customer.appAccountToken
    }
}

extension World {
    /// Sets the token of a one-time purchase, or of the current transaction of a subscription.
    ///
    /// Earlier transactions of the subscription keep theirs.
    ///
    /// - `date`: Milliseconds since 1970.
    /// - Returns: The change; `nil` when the transaction has the token already.
    mutating func setAccountToken(_ token: String, of purchase: Purchase, at date: Int64) -> WorldChange? {
        let identity = customers[purchase.customer].identity
        guard let current = purchase.transactions.last, current.appAccountToken(of: identity) != token,
            let position = customers[purchase.customer].transactions.firstIndex(where: { $0.id == current.id })
        else { return nil }
        now = moment(for: date)
        customers[purchase.customer].transactions[position].accountTokens.append(AccountToken(date: now, token: token))
        return WorldChange(
            customer: purchase.customer,
            transactionId: String(current.id),
            position: position,
            date: now
        )
    }
}
