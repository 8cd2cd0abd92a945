import AppStoreModel

extension Route {
    /// Get Seat Info: the seats of a subscription, and the claims that have one.
    ///
    /// Apple documents no limit for the calls of seats, so it is the limit of the calls of groups.
    static let seats = Route(
        "seats",
        .get,
        "/groups/v1/transactions/{originalTransactionId}/seats",
        requestsPerSecond: 50,
        isInProduction: false
    ) { request, context throws(APIError) in
        let (total, claims) = try context.world.seats(of: try request.checkedTransactionId, at: context.now.rawValue)
        return SimulatedAnswer { json in
            json.member("totalSeatCount", total)
            json.member("availableSeatCount", max(0, total - Int64(claims.count)))
            json.member("assignedSeatClaimIds", claims.map(\.id))
        }
    }
}
