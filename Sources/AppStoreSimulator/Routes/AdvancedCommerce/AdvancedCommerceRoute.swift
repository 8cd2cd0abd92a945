import AppStoreModel

extension Route {
    /// What a call of the Advanced Commerce API changes.
    struct CommerceResult {
        let purchase: CommercePurchase
        var changes: [WorldChange] = []
    }

    /// Changes the world as a call asks.
    typealias CommerceAction = @Sendable (AdvancedCommerceCall, inout World) throws(APIError) -> CommerceResult

    /// A call of the Advanced Commerce API.
    ///
    /// A request whose `requestReferenceId` was applied before changes nothing.
    ///
    /// - `members`: The members of the body in addition to `requestInfo` and `storefront`.
    /// - `refusesRepeats`: Whether Apple lists 4000097 for the call. Otherwise a repeat is answered with the present state.
    static func advancedCommerce(
        _ name: String,
        _ path: String,
        requestsPerSecond: Double,
        members: Set<String>,
        refusesRepeats: Bool = true,
        action: @escaping CommerceAction
    ) -> Route {
        Route(
            name,
            .post,
            "/advancedCommerce/v1/\(path)/{transactionId}",
            requestsPerSecond: requestsPerSecond,
            action: { request, world throws(APIError) in
                let call = try AdvancedCommerceCall(request, members: members)
                let id = call.requestReferenceId
                if world.commerceRequests.contains(id) {
                    let purchase = try world.commercePurchase(call)
                    world.actions.record(request, requestIdentifier: id, isApplied: false)
                    let refusal = refusesRepeats ? APIError.repeatedRequestReferenceId : purchase.repeatRefusal
                    let answer = world.answer(about: purchase, at: request.date)
                    return ActionResult(answer: answer, isRepeat: true, refusal: refusal)
                }
                let result = try action(call, &world)
                world.commerceRequests.insert(id)
                world.actions.record(request, requestIdentifier: id, isApplied: true)
                let answer = world.answer(about: result.purchase, at: request.date)
                return ActionResult(answer: answer, changes: result.changes)
            }
        )
    }
}
