import AppStoreModel

/// One extension of a subscription's renewal date.
struct RenewalExtension: Sendable, Equatable {
    /// In milliseconds since 1970.
    let date: Int64
    let days: Int64
    let requestIdentifier: String
    /// The subscription's end from then on, in milliseconds since 1970.
    let effectiveDate: Int64

    /// In milliseconds.
    var length: Int64 { days * Moment.day }

    /// The most extensions of a subscription within ``period``.
    ///
    /// Source: "Extending the renewal date for auto-renewable subscriptions", App Store Server API, read 2026-11.
    static let maximumCount = 2
    /// In milliseconds.
    static let period = 365 * Moment.day
}

/// All transactions of one subscription or one-time purchase, with its customer's index.
struct Purchase: Sendable {
    let customer: Int
    /// The first purchase first; not empty.
    let transactions: [Transaction]

    var extensions: [RenewalExtension] { transactions.flatMap(\.extensions) }
}

extension World {
    /// The purchase with this original transaction ID; `nil` when there is none.
    func purchase(originalId: TransactionID) -> Purchase? {
        guard let customer = customer(owning: originalId) else { return nil }
        let transactions = customers[customer].transactions.filter { String($0.originalId) == originalId.text }
        return transactions.isEmpty ? nil : Purchase(customer: customer, transactions: transactions)
    }

    /// The transaction whose period an extension makes longer.
    ///
    /// Throws the error with which Apple refuses to extend the subscription at `date` (milliseconds since 1970).
    func extensibleTransaction(of purchase: Purchase, at date: Int64) throws(APIError) -> Transaction {
        guard let first = purchase.transactions.first, first.product.kind == .autoRenewable else {
            throw .extensionIneligible
        }
        guard !first.isFamilyShared else { throw .familySharedExtension }
        let isFree = { (transaction: Transaction) in transaction.offer?.discount == .freeTrial }
        guard let renewal = timeline(of: purchase.transactions).latest(at: date)?.renewal, renewal.state.status == 1,
            !isFree(renewal.transaction)
        else { throw .extensionIneligible }
        let recent = purchase.extensions.count { $0.date > date - RenewalExtension.period }
        guard recent < RenewalExtension.maximumCount else { throw .maximumExtensions }
        return renewal.transaction
    }

    /// Makes the period of a subscription's current transaction and the family members' periods longer, and announces
    /// them.
    ///
    /// - `transaction`: Of ``extensibleTransaction(of:at:)``, for the world's moment.
    /// - Returns: The changes, the purchaser's first, and the purchaser's new end.
    mutating func extend(
        _ transaction: Transaction,
        ofCustomer index: Int,
        by days: Int64,
        requestIdentifier: String
    ) -> (changes: [WorldChange], effectiveDate: Int64)? {
        guard
            let (change, end) = prolong(transaction, ofCustomer: index, by: days, requestIdentifier: requestIdentifier)
        else { return nil }
        let members = familyMembers(ofCustomer: index, sharing: transaction.product).compactMap { member in
            prolong(member.transaction, ofCustomer: member.customer, by: days, requestIdentifier: requestIdentifier)?
                .change
        }
        return ([change] + members, end)
    }

    /// The family members of a purchaser who have the product through Family Sharing now, with their current transactions.
    ///
    /// The purchaser of a shared subscription is the next customer who bought a subscription to the product, so that
    /// every family is the same in every world with these customers.
    private func familyMembers(ofCustomer index: Int, sharing product: Product) -> [(
        customer: Int, transaction: Transaction
    )] {
        var found: [(customer: Int, transaction: Transaction)] = []
        for offset in 1..<max(1, customers.count) {
            let member = (index + customers.count - offset) % customers.count
            let chains = customers[member].subscriptions.filter { $0[0].product.group == product.group }
            if chains.contains(where: { !$0[0].isFamilyShared && $0.contains { $0.product.id == product.id } }) {
                break
            }
            for chain in chains where chain[0].isFamilyShared {
                guard let renewal = timeline(of: chain).latest(at: now)?.renewal, renewal.state.status == 1,
                    renewal.transaction.product.id == product.id
                else { continue }
                found.append((member, renewal.transaction))
            }
        }
        return found
    }

    private mutating func prolong(
        _ transaction: Transaction,
        ofCustomer index: Int,
        by days: Int64,
        requestIdentifier: String
    ) -> (change: WorldChange, effectiveDate: Int64)? {
        guard let position = customers[index].transactions.firstIndex(where: { $0.id == transaction.id }),
            let end = customers[index].transactions[position].expiresDate
        else { return nil }
        let extended = RenewalExtension(
            date: now,
            days: days,
            requestIdentifier: requestIdentifier,
            effectiveDate: end + days * Moment.day
        )
        customers[index].transactions[position].expiresDate = extended.effectiveDate
        customers[index].transactions[position].extensions.append(extended)
        let kind = NotificationKind("RENEWAL_EXTENDED", about: .subscription(.active))
        return (record(kind, customer: index, position: position), extended.effectiveDate)
    }
}
