import AppStoreModel
import Basics

extension Route {
    /// Extend Subscription Renewal Dates for All Active Subscribers: begins to extend all subscriptions to one product.
    ///
    /// Apple does it in hours or days; here the requests for its status do it, and so does `POST /simulator/advance`.
    static let extendRenewalDatesForAll = Route(
        "extendRenewalDatesForAll",
        .post,
        "/inApps/v1/subscriptions/extend/mass",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let body = try RequestBody(
                request.body,
                members: ExtensionTerms.members.union(["productId", "storefrontCountryCodes"])
            )
            let terms = try ExtensionTerms(body)
            guard UUIDText.bytes(of: terms.requestIdentifier) != nil else { throw .requestIdentifier }
            let product = try body.text("productId", or: .productId)
            guard Product.autoRenewable.contains(where: { $0.id == product }) else { throw .productId }
            let storefronts = try storefronts(in: body)
            let isRepeat = world.massExtension(terms.requestIdentifier) != nil
            var changes: [WorldChange] = []
            if !isRepeat {
                world.now = world.moment(for: request.date)
                world.startMassExtension(of: product, terms, in: storefronts)
                if world.parameters.massExtensionRequests == 0 {
                    changes = world.continueMassExtension(terms.requestIdentifier, at: request.date)
                }
            }
            world.actions.record(request, requestIdentifier: terms.requestIdentifier, isApplied: !isRepeat)
            let answer = SimulatedAnswer { $0.member("requestIdentifier", terms.requestIdentifier) }
            return ActionResult(answer: answer, changes: changes, isRepeat: isRepeat)
        }
    )

    /// The storefronts of the request; `nil` when it has none, which means all.
    private static func storefronts(in body: RequestBody) throws(APIError) -> [String]? {
        guard let codes = try body.texts("storefrontCountryCodes", or: .storefrontCountryCode) else { return nil }
        guard !codes.isEmpty else { throw .emptyStorefrontCountryCodes }
        guard codes.allSatisfy(StorefrontCountryCode.all.contains) else { throw .storefrontCountryCode }
        return codes
    }
}
