extension Route {
    /// Revoke Subscription: ends a subscription at once, with a full or prorated refund.
    static let revokeSubscription = Route.advancedCommerce(
        "revokeSubscription",
        "subscription/revoke",
        requestsPerSecond: 5,
        members: ["refundReason", "refundRiskingPreference", "refundType"]
    ) { call, world throws(APIError) in
        let reason = try call.body.refundReason(in: world.app)
        _ = try call.body.flag("refundRiskingPreference", or: .nullRefundRisking)
        let type = try call.body.refundType(["FULL", "PRORATED"])
        let (purchase, _) = try world.activeCommerce(call, inactive: .revokeOnInactive)
        guard !world.hasPendingRefund(purchase) else { throw .pendingRefund }
        let changed = world.change(purchase, by: call)
        guard reason != RequestBody.simulatedDecline else {
            let kind = NotificationKind("REFUND_DECLINED", about: .oneTime)
            let change = world.record(kind, customer: purchase.customer, position: purchase.position)
            return CommerceResult(purchase: changed, changes: [change])
        }
        let share = type == "FULL" ? 100_000 : purchase.transaction.unusedShare(at: world.now)
        let change = world.refundItems(
            of: purchase,
            purchase.transaction.advancedCommerce?.items.map {
                CommerceRefund.Item(
                    sku: $0.sku,
                    amount: $0.refundable * share / 100_000,
                    reason: reason,
                    type: type,
                    isRevoked: true
                )
            } ?? [],
            revokesAll: true
        )
        return CommerceResult(purchase: changed, changes: [change])
    }
}
