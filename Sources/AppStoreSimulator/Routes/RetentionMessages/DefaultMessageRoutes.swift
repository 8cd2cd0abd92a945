import Basics

extension Route {
    /// Configure Default Message: the message of a product in a language; the last one counts.
    static let configureDefaultMessage = Route(
        "configureDefaultMessage",
        .put,
        "/inApps/v1/messaging/default/{productId}/{locale}",
        requestsPerSecond: 10,
        action: { request, world throws(APIError) in
            let place = try request.defaultPlace()
            let body = try RequestBody(request.body, members: ["messageIdentifier"])
            let text = try body.text("messageIdentifier", or: .badRequest)
            guard let id = UUIDText.bytes(ofAnyForm: text).map(UUIDText.text(of:)) else { throw .badRequest }
            guard let message = world.retention.messages[id] else { throw .messageNotFound }
            guard message.state == .approved else { throw .messageNotApproved }
            guard message.images.allSatisfy({ world.retention.images[$0]?.state == .approved }) else {
                throw .imageNotApproved
            }
            world.retention.defaults[place] = id
            world.actions.record(request, requestIdentifier: place, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )

    /// Get Default Message.
    static let defaultMessage = Route(
        "defaultMessage",
        .get,
        "/inApps/v1/messaging/default/{productId}/{locale}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            guard let id = world.retention.defaults[try request.defaultPlace()] else { throw .defaultMessageNotFound }
            return ActionResult(answer: SimulatedAnswer { $0.member("messageIdentifier", id) }, isRecorded: false)
        }
    )

    /// Delete Default Message.
    ///
    /// The error for a default that does not exist is that of Get Default Message; Apple documents none.
    static let deleteDefaultMessage = Route(
        "deleteDefaultMessage",
        .delete,
        "/inApps/v1/messaging/default/{productId}/{locale}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let place = try request.defaultPlace()
            guard world.retention.defaults.removeValue(forKey: place) != nil else { throw .defaultMessageNotFound }
            world.actions.record(request, requestIdentifier: place, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )
}

extension ActionRequest {
    /// Product and locale, separated by a slash.
    fileprivate func defaultPlace() throws(APIError) -> String {
        guard let product = parameters["productId"], (1...255).contains(product.count) else { throw .productId }
        guard let locale = parameters["locale"],
            locale.wholeMatch(of: /[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?/) != nil
        else { throw .locale }
        return "\(product)/\(locale)"
    }
}
