extension Route {
    /// Request Transaction Refund: asks Apple to refund items of one transaction, which Apple decides with the next change.
    static let requestTransactionRefund = Route.advancedCommerce(
        "requestTransactionRefund",
        "transaction/requestRefund",
        requestsPerSecond: 5,
        members: ["currency", "items", "refundRiskingPreference"]
    ) { call, world throws(APIError) in
        let wanted = try WantedRefund(call.body, in: world.app)
        let found = try world.transaction(call.transactionId)
        let current = try world.commercePurchase(call)
        let purchase = CommercePurchase(
            customer: found.customer,
            position: found.position,
            transaction: found.transaction,
            renewal: current.renewal
        )
        guard let commerce = found.transaction.advancedCommerce, !found.transaction.isFamilyShared else {
            throw .notRefundable
        }
        let identity = world.customers[found.customer].identity
        guard wanted.currency == nil || wanted.currency == identity.storefront.currency,
            call.storefront == nil || call.storefront == identity.storefront.code
        else { throw .mismatchedStorefront }
        // Only the renewal info of a subscription has a token.
        let token = current.renewal == nil ? nil : current.transaction.advancedCommerce?.consistencyToken
        guard call.consistencyToken == nil || call.consistencyToken == token else { throw .invalidConsistencyToken }
        guard found.transaction.revocation == nil else { throw .alreadyRefunded }
        guard !world.hasPendingRefund(purchase) else { throw .pendingRefund }
        var items: [CommerceRefund.Item] = []
        for item in wanted.items {
            guard let owned = commerce.items.first(where: { $0.sku == item.sku }) else { throw .productNotOwned }
            guard owned.refundable > 0 else { throw .alreadyRefunded }
            if item.type == "PRORATED", let latest = purchase.renewal?.transaction.id, latest != found.transaction.id {
                throw .proratedOnlyLatest
            }
            let share = item.type == "PRORATED" ? found.transaction.unusedShare(at: call.arrival) : 100_000
            let amount = item.amount ?? owned.refundable * share / 100_000
            guard amount <= owned.refundable else { throw .nullRefundAmount }
            items.append(
                CommerceRefund.Item(
                    sku: item.sku,
                    amount: amount,
                    reason: item.reason,
                    type: item.type,
                    isRevoked: item.revokes
                )
            )
        }
        let revoked = Set(items.filter(\.isRevoked).map(\.sku))
        let isCurrent = purchase.renewal.map { $0.transaction.id == found.transaction.id && $0.state.status == 1 }
        guard isCurrent != true || !commerce.items.allSatisfy({ $0.revocationDate != nil || revoked.contains($0.sku) })
        else { throw .removalOfAllItems }
        let changed = world.change(purchase, by: call)
        world.commerceRefunds.append(
            CommerceRefund(customer: found.customer, position: found.position, items: items)
        )
        return CommerceResult(purchase: changed, changes: [world.unannouncedChange(of: changed)])
    }
}

/// The body of the call.
///
/// Source: RequestRefundRequest, RequestRefundItem, read 2026-11.
private struct WantedRefund: Sendable {
    struct Item: Sendable {
        let sku: String
        /// In milliunits; only of a custom refund.
        let amount: Int64?
        let reason: String
        let type: String
        let revokes: Bool
    }

    let currency: String?
    let items: [Item]

    init(_ body: RequestBody, in app: SimulatedApp) throws(APIError) {
        currency = try body.code("currency", or: .malformedPayload)
        let members: Set = ["SKU", "refundAmount", "refundReason", "refundType", "revoke"]
        guard let found = try body.bodies("items", members: members, or: .malformedPayload) else {
            throw .malformedPayload
        }
        guard !found.isEmpty else { throw .malformedPayload }
        var items: [Item] = []
        for item in found {
            // Apple lists no error about an SKU for this call.
            let sku = try item.text("SKU", or: .malformedPayload)
            guard !items.contains(where: { $0.sku == sku }) else { throw .malformedPayload }
            let reason = try item.refundReason(in: app)
            let type = try item.refundType(["FULL", "PRORATED", "CUSTOM"])
            var amount: Int64?
            if item.has("refundAmount") {
                guard type == "CUSTOM" else { throw .refundAmountWithoutCustom }
                amount = try item.integer("refundAmount", in: 1...Int64(Int32.max), or: .negativeRefundAmount)
            } else if type == "CUSTOM" {
                throw .nullRefundAmount
            }
            let revokes = try item.flag("revoke", or: .malformedPayload)
            items.append(Item(sku: sku, amount: amount, reason: reason, type: type, revokes: revokes))
        }
        let simulated = items.count { $0.reason == RequestBody.simulatedDecline }
        guard simulated == 0 || simulated == items.count else { throw .partialSimulatedDecline }
        self.items = items
        _ = try body.flag("refundRiskingPreference", or: .nullRefundRisking)
    }
}
