extension Route {
    /// Unclaim Seat: takes a seat back.
    static let unclaimSeat = Route(
        "unclaimSeat",
        .delete,
        "/groups/v1/transactions/{originalTransactionId}/seats/{seatClaimId}",
        requestsPerSecond: 50,
        isInProduction: false,
        action: { request, world throws(APIError) in
            let subscription = try world.seatSubscription(try request.transactionId(), at: request.date)
            let place = try world.place(ofClaim: request.parameters["seatClaimId"], in: subscription)
            world.seatClaims[subscription.originalId]?.assigned.remove(at: place)
            world.actions.record(request, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )
}
