import AppStoreModel

extension Route {
    /// Finish Transaction: the app has delivered what was bought.
    ///
    /// A finished consumable leaves version 1 of the transaction history.
    static let finishTransaction = Route(
        "finishTransaction",
        .post,
        "/inApps/v1/transactions/{transactionId}/finish",
        requestsPerSecond: 50,
        action: { request, world throws(APIError) in
            let id = try request.transactionId()
            guard request.body.isEmpty else { throw .badRequest }
            let found = try world.transaction(id)
            let isNew = !found.transaction.isFinished
            world.customers[found.customer].transactions[found.position].isFinishedByServer = true
            world.actions.record(request, isApplied: isNew)
            let change = WorldChange(
                customer: found.customer,
                transactionId: id.text,
                position: found.position,
                date: world.now
            )
            return ActionResult(answer: SimulatedAnswer(status: 200), changes: isNew ? [change] : [])
        }
    )
}
