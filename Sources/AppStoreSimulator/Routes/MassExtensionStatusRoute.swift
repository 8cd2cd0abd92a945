import AppStoreModel
import Basics

extension Route {
    /// Get Status of Subscription Renewal Date Extensions: whether a request for all subscribers is complete.
    ///
    /// Apple documents no limit. Here each request that finds it at work also does the next part of the work.
    static let massExtensionStatus = Route(
        "massExtensionStatus",
        .get,
        "/inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            guard let identifier = request.parameters["requestIdentifier"], UUIDText.bytes(of: identifier) != nil else {
                throw .requestIdentifier
            }
            guard let known = world.massExtension(identifier), known.productId == request.parameters["productId"] else {
                throw .statusRequestNotFound
            }
            let changes = world.continueMassExtension(identifier, at: request.date)
            let status = world.massExtension(identifier) ?? known
            let answer = SimulatedAnswer { json in
                json.member("requestIdentifier", status.requestIdentifier)
                json.member("complete", status.completeDate != nil)
                guard let date = status.completeDate else { return }
                json.member("completeDate", date)
                json.member("succeededCount", Int64(status.succeeded.count))
                json.member("failedCount", Int64(status.failed.count))
            }
            return ActionResult(answer: answer, changes: changes, isRecorded: known.completeDate == nil)
        }
    )
}
