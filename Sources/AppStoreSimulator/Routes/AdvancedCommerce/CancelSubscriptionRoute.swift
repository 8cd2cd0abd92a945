extension Route {
    /// Cancel a Subscription: turns its automatic renewal off.
    ///
    /// A subscription that is cancelled already stays so.
    static let cancelSubscription = Route.advancedCommerce(
        "cancelSubscription",
        "subscription/cancel",
        requestsPerSecond: 5,
        members: [],
        refusesRepeats: false
    ) { call, world throws(APIError) in
        let (purchase, _) = try world.activeCommerce(call, inactive: .subscriptionNotEligible)
        let wasOn = purchase.renewal?.state.renewsAutomatically ?? false
        let changed = world.change(purchase, by: call)
        guard wasOn else {
            return CommerceResult(purchase: changed, changes: [world.unannouncedChange(of: changed)])
        }
        world.customers[purchase.customer].transactions[purchase.position].cancelledDate = world.now
        let change = world.record(
            .automaticRenewalOff,
            customer: purchase.customer,
            position: purchase.position
        )
        return CommerceResult(purchase: changed, changes: [change])
    }
}
