import HTTPTypes
import Hummingbird
import SignedData

/// Finds the app of a request: Apple's endpoints are the same for all apps, and the token names the app.
///
/// The simulator's own endpoints serve the first app, or the app in the query:
/// `/simulator/world?bundleId=com.example.two`.
struct AccountResponder: HTTPResponder {
    /// By bundle ID; at least one.
    let apps: [(bundleId: String, responder: RouteResponder)]

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let named: String? =
            if request.uri.path.hasPrefix("/simulator/") {
                (try? QueryItems(request.uri.query))?["bundleId"]
            } else {
                apps.count == 1
                    ? nil : request.headers[.authorization].flatMap { BearerTokenVerifier.claimedBundleId(in: $0) }
            }
        // The first app refuses a token that names no app of the account.
        let app = apps.first { $0.bundleId == named } ?? apps[0]
        return try await app.responder.respond(to: request, context: context)
    }
}
