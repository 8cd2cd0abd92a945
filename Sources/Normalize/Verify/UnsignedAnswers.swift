import AppStoreModel
import LedgerSchema
import Postgres
import SignedData
import StrictJSON

/// Answers that Apple does not sign are accepted only with the signed records that belong to them.
extension RecordVerifier {
    /// Verifies the records of a subscription, and accepts its status if they belong to the subscription.
    ///
    /// A status without its records, or with records of another subscription, is rejected. The records themselves are
    /// accepted, because Apple signed them.
    ///
    /// - Parameters:
    ///   - subscription: Apple's item.
    ///   - itemKey: The requested transaction ID. It identifies a rejected status that names no subscription.
    ///   - now: The time of the database's clock.
    ///   - page: Receives the records, the status and what is rejected.
    func add(
        _ subscription: SubscriptionStatusItem,
        item itemKey: String,
        now: UnixMilliseconds,
        to page: inout VerifiedPage
    ) {
        let transaction = subscription.transaction.flatMap { add(.text($0), as: .transaction, now: now, to: &page) }
        let renewal = subscription.renewalInfo.flatMap { add(.text($0), as: .renewalInfo, now: now, to: &page) }
        guard let id = subscription.originalTransactionId, let status = subscription.status, subscription.problem == nil
        else {
            let id = subscription.originalTransactionId ?? renewal?.key ?? itemKey
            let detail = "Subscription \(id): \(subscription.problem ?? "a member is missing")."
            page.reject(RecordRejection(.unreadable, detail), raw: subscription.text, .subscriptionStatus, id)
            return
        }
        guard let transaction, let renewal else { return }
        let signed = [
            ("signedTransactionInfo", transaction.payload.json["originalTransactionId"]),
            ("signedRenewalInfo", renewal.payload.json["originalTransactionId"]),
        ]
        if let other = signed.first(where: { $0.1?.isText(id) != true }) {
            let detail = """
                originalTransactionId is "\(id)", but in \(other.0) it is \(ForeignText.description(of: other.1)).
                """
            page.reject(RecordRejection(.contradiction, detail), raw: subscription.text, .subscriptionStatus, id)
            return
        }
        page.add(
            Answer(
                .subscriptionStatus,
                row: [
                    .text(id), subscription.subscriptionGroupIdentifier.map(Cell.text) ?? .null, .integer(status),
                    .text(transaction.key),
                    .timestamp(max(transaction.payload.signedDate, renewal.payload.signedDate).rawValue), .null,
                ],
                rejectIdentity: RejectedRecord.identity(of: .subscriptionStatus, id)
            )
        )
    }

    /// Verifies the transactions of an order, and accepts the result of its lookup if all of them are accepted.
    ///
    /// An order that Apple calls invalid has no transactions. A result that has both is rejected, and its transactions are
    /// accepted, because Apple signed them.
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
        guard isValid || keys.isEmpty else {
            let detail =
                "status is 1 (invalid), but signedTransactions has \(transactions.count); an invalid order has none."
            let raw = #"{"status":1,"transactionIds":["\#(keys.joined(separator: #"",""#))"]}"#
            page.reject(RecordRejection(.contradiction, detail), raw: raw, .order, order)
            return
        }
        page.add(
            Answer(
                .order,
                row: [.text(order), .integer(isValid ? 0 : 1)],
                children: [
                    ChildRows(table: Tables.orderTransactions, rows: keys.map { [.text(order), .text($0)] })
                ],
                rejectIdentity: RejectedRecord.identity(of: .order, order)
            )
        )
    }
}
