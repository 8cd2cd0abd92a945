extension Route {
    /// Associate Seat: names the member who uses a claimed seat.
    static let associateSeat = Route(
        "associateSeat",
        .post,
        "/groups/v1/transactions/{originalTransactionId}/seats/{seatClaimId}/associate",
        requestsPerSecond: 50,
        isInProduction: false,
        action: { request, world throws(APIError) in
            let subscription = try world.seatSubscription(try request.transactionId(), at: request.date)
            let place = try world.place(ofClaim: request.parameters["seatClaimId"], in: subscription)
            let body = try RequestBody(request.body, members: ["appTransactionId"])
            let member = try body.text("appTransactionId", or: .appTransactionIdNotFound)
            try world.checkMember(member)
            let isChanged = world.seatClaims[subscription.originalId]?.assigned[place].appTransactionId != member
            world.seatClaims[subscription.originalId]?.assigned[place].appTransactionId = member
            world.actions.record(request, isApplied: isChanged)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )
}
