import AppStoreModel
import LedgerSchema
import SignedData
import StrictJSON

/// Answers that Apple does not sign are accepted only with the signed records that belong to them.
extension RecordVerifier {
    /// Verifies both records of a subscription, and accepts its status if they belong to the subscription.
    ///
    /// A status without its records, or with records of another subscription, is rejected. The records themselves are
    /// accepted, because Apple signed them.
    func add(_ subscription: SubscriptionStatusItem, now: UnixMilliseconds, to page: inout VerifiedPage) {
        let transaction = add(.text(subscription.transaction), as: .transaction, now: now, to: &page)
        let renewal = add(.text(subscription.renewalInfo), as: .renewalInfo, now: now, to: &page)
        guard let transaction, let renewal else { return }
        let signed = [
            ("signedTransactionInfo", transaction.payload.json["originalTransactionId"]),
            ("signedRenewalInfo", renewal.payload.json["originalTransactionId"]),
        ]
        if let other = signed.first(where: { $0.1?.isText(subscription.originalTransactionId) != true }) {
            let detail = """
                originalTransactionId is "\(subscription.originalTransactionId)", but that of \(other.0) is \
                \(ForeignText.description(of: other.1)).
                """
            page.reject(RecordRejection(.contradiction, detail), raw: subscription.text)
            return
        }
        page.add(
            Answer(
                .subscriptionStatus,
                row: [
                    .text(subscription.originalTransactionId),
                    subscription.subscriptionGroupIdentifier.map(Cell.text) ?? .null, .integer(subscription.status),
                    .text(transaction.key),
                ]
            )
        )
    }

    /// Verifies the transactions of an order, and accepts the result of its lookup if all of them are accepted.
    func add(
        order: String,
        isValid: Bool,
        _ transactions: [String],
        now: UnixMilliseconds,
        to page: inout VerifiedPage
    ) {
        let verified = transactions.compactMap { add(.text($0), as: .transaction, now: now, to: &page) }
        guard verified.count == transactions.count, page.rejected.isEmpty else { return }
        var keys: [String] = []
        for record in verified where !keys.contains(record.key) { keys.append(record.key) }
        page.add(
            Answer(
                .order,
                row: [.text(order), .integer(isValid ? 0 : 1)],
                children: [
                    ChildRows(table: Tables.orderTransactions, rows: keys.map { [.text(order), .text($0)] })
                ]
            )
        )
    }
}
