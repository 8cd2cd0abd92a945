/// A refund of items that the app's server has requested and Apple has not decided.
struct CommerceRefund: Sendable, Equatable {
    struct Item: Sendable, Equatable {
        let sku: String
        /// In milliunits.
        let amount: Int64
        let reason: String
        let type: String
        let isRevoked: Bool
    }

    let customer: Int
    /// The index of the transaction among the customer's.
    let position: Int
    let items: [Item]
}

extension World {
    /// Whether Apple has not decided a refund of the transaction.
    func hasPendingRefund(_ purchase: CommercePurchase) -> Bool {
        commerceRefunds.contains { $0.customer == purchase.customer && $0.position == purchase.position }
    }

    /// Decides the refunds that the app's server has requested: granted, unless the request asks for a decline.
    ///
    /// - `date`: Of the first decision, in milliseconds since 1970.
    mutating func decideCommerceRefunds(from date: Int64) -> [WorldChange] {
        let pending = commerceRefunds
        commerceRefunds = []
        return pending.compactMap { refund in
            let transaction = customers[refund.customer].transactions[refund.position]
            // Another change may have refunded it.
            guard transaction.revocation == nil else { return nil }
            now = moment(for: date)
            guard refund.items.allSatisfy({ $0.reason != RequestBody.simulatedDecline }) else {
                return record(
                    NotificationKind("REFUND_DECLINED", about: .oneTime),
                    customer: refund.customer,
                    position: refund.position,
                    isChanged: false
                )
            }
            let purchase = CommercePurchase(
                customer: refund.customer,
                position: refund.position,
                transaction: transaction,
                renewal: nil
            )
            return refundItems(of: purchase, refund.items, revokesAll: false)
        }
    }

    /// Refunds items at the world's moment, and announces it.
    ///
    /// - `revokesAll`: Whether the transaction is revoked. Otherwise it is when all of its items are.
    mutating func refundItems(
        of purchase: CommercePurchase,
        _ items: [CommerceRefund.Item],
        revokesAll: Bool
    ) -> WorldChange {
        var transaction = customers[purchase.customer].transactions[purchase.position]
        transaction.earlierCommerce.append(EarlierCommerce(date: now, commerce: transaction.advancedCommerce))
        var contents = transaction.advancedCommerce?.items ?? []
        for item in items {
            guard let place = contents.firstIndex(where: { $0.sku == item.sku }) else { continue }
            contents[place].refunds.append(
                AdvancedCommerce.Refund(amount: item.amount, date: now, reason: item.reason, type: item.type)
            )
            if item.isRevoked { contents[place].revocationDate = now }
        }
        transaction.advancedCommerce?.items = contents
        if revokesAll || contents.allSatisfy({ $0.revocationDate != nil }) {
            transaction.revocation = Transaction.Revocation(date: now, reason: 0, type: .full, percentage: nil)
        }
        customers[purchase.customer].transactions[purchase.position] = transaction
        return record(
            NotificationKind("REFUND", about: .refunded),
            customer: purchase.customer,
            position: purchase.position
        )
    }
}
