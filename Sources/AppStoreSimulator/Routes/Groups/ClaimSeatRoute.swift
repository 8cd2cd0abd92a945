import Basics

extension Route {
    /// Claim Seat: takes a seat for a member; the same request identifier gives the same claim.
    static let claimSeat = Route(
        "claimSeat",
        .post,
        "/groups/v1/transactions/{originalTransactionId}/seats",
        requestsPerSecond: 50,
        isInProduction: false,
        action: { request, world throws(APIError) in
            let id = try request.transactionId()
            let body = try RequestBody(request.body, members: ["requestIdentifier", "appTransactionId"])
            let identifier = try body.text("requestIdentifier", or: .requestIdentifier)
            guard UUIDText.bytes(of: identifier) != nil else { throw .requestIdentifier }
            let subscription = try world.seatSubscription(id, at: request.date)
            let member =
                body.has("appTransactionId") ? try body.text("appTransactionId", or: .appTransactionIdNotFound) : nil
            if let member { try world.checkMember(member) }
            var claims = world.seatClaims[subscription.originalId] ?? SeatClaims()
            let known = claims.idsOfRequests[identifier]
            if known == nil {
                guard claims.assigned.count < subscription.quantity else { throw .noAvailableSeats }
                var random = SplitMix64(
                    seed: world.parameters.seed,
                    path: 21,
                    subscription.originalId,
                    UInt64(claims.idsOfRequests.count)
                )
                let claim = SeatClaim(id: random.uuid(), appTransactionId: member)
                claims.idsOfRequests[identifier] = claim.id
                claims.assigned.append(claim)
                world.seatClaims[subscription.originalId] = claims
            }
            world.actions.record(request, requestIdentifier: identifier, isApplied: known == nil)
            let claim = claims.idsOfRequests[identifier] ?? ""
            return ActionResult(
                answer: SimulatedAnswer { $0.member("seatClaimId", claim) },
                isRepeat: known != nil
            )
        }
    )
}
