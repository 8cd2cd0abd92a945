import AppStoreModel
import Basics

extension Route {
    /// Set App Account Token: the UUID of the customer in the app's own system, for a purchase that has none or another.
    static let setAppAccountToken = Route(
        "setAppAccountToken",
        .put,
        "/inApps/v1/transactions/{originalTransactionId}/appAccountToken",
        requestsPerSecond: 20,
        action: { request, world throws(APIError) in
            let id = try request.transactionId()
            let body = try RequestBody(request.body, members: ["appAccountToken"])
            let token = try body.text("appAccountToken", or: .appAccountTokenUUID)
            guard let bytes = UUIDText.bytes(of: token) else { throw .appAccountTokenUUID }
            guard world.customer(ofAppTransaction: id) == nil else { throw .appTransactionIdNotSupported }
            guard let purchase = world.purchase(originalId: id) else {
                let isKnown = (try? world.transaction(id)) != nil
                throw isKnown ? .notOriginalTransactionId : .originalTransactionNotFound
            }
            guard purchase.transactions.first?.isFamilyShared == false else { throw .familyTransactionNotSupported }
            let change = world.setAccountToken(UUIDText.text(of: bytes), of: purchase, at: request.date)
            world.actions.record(request, isApplied: change != nil)
            return ActionResult(answer: SimulatedAnswer(status: 200), changes: change.map { [$0] } ?? [])
        }
    )
}
