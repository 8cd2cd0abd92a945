import Basics

extension Route {
    /// Upload Message: header, body and images of a message, which Apple reviews.
    static let uploadMessage = Route(
        "uploadMessage",
        .put,
        "/inApps/v1/messaging/message/{messageIdentifier}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let id = try request.identifier("messageIdentifier")
            let body = try RequestBody(
                request.body,
                members: ["header", "body", "image", "headerPosition", "bulletPoints"]
            )
            let images = try imagesOfMessage(body)
            guard world.retention.messages[id] == nil else { throw .messageAlreadyExists }
            // Apple documents no error for an image that does not exist, so this is the general one.
            guard images.allSatisfy({ world.retention.images[$0] != nil }) else { throw .badRequest }
            guard world.retention.messages.count < RetentionStore.most else { throw .tooManyMessages }
            var upload = world.newUpload(id)
            upload.images = images
            world.retention.messages[id] = upload
            world.actions.record(request, requestIdentifier: id, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )

    /// Checks the body of Upload Message.
    ///
    /// - Returns: The identifiers of the images.
    private static func imagesOfMessage(_ body: RequestBody) throws(APIError) -> [String] {
        guard try body.text("header", or: .badRequest).count <= 66 else { throw .headerTooLong }
        guard try body.text("body", or: .badRequest).count <= 144 else { throw .bodyTooLong }
        let image = try body.body("image", members: ["imageIdentifier", "altText"], or: .badRequest)
        let points = try body.bodies("bulletPoints", members: ["text", "imageIdentifier", "altText"], or: .badRequest)
        guard points?.count ?? 0 <= 5 else { throw .tooManyBulletPoints }
        for point in points ?? [] {
            guard try point.text("text", or: .badRequest).count <= 66 else { throw .bulletPointTextTooLong }
        }
        var identifiers: [String] = []
        for picture in [image].compactMap(\.self) + (points ?? []) {
            guard try picture.text("altText", or: .badRequest).count <= 150 else { throw .altTextTooLong }
            let text = try picture.text("imageIdentifier", or: .badRequest)
            guard let bytes = UUIDText.bytes(ofAnyForm: text) else { throw .badRequest }
            identifiers.append(UUIDText.text(of: bytes))
        }
        if body.has("headerPosition") {
            let position = try body.text("headerPosition", or: .badRequest)
            guard ["ABOVE_BODY", "ABOVE_IMAGE"].contains(position) else { throw .badRequest }
            guard position == "ABOVE_BODY" || image != nil else { throw .aboveImage }
        }
        return identifiers
    }

    /// Delete Message.
    ///
    /// Apple documents no error for a message that is a default, so its defaults go with it.
    static let deleteMessage = Route(
        "deleteMessage",
        .delete,
        "/inApps/v1/messaging/message/{messageIdentifier}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let id = try request.identifier("messageIdentifier")
            guard world.retention.messages[id] != nil else { throw .messageNotFound }
            world.retention.messages[id] = nil
            world.retention.defaults = world.retention.defaults.filter { $0.value != id }
            world.actions.record(request, requestIdentifier: id, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )

    /// Get Message List.
    ///
    /// Each request also goes on with the review, as time does at Apple.
    static let messageList = Route(
        "messageList",
        .get,
        "/inApps/v1/messaging/message/list",
        requestsPerSecond: 1,
        action: { _, world throws(APIError) in
            let isChanged = RetentionStore.review(&world.retention.messages)
            let items = world.retention.messages.sorted { $0.key < $1.key }
            let answer = SimulatedAnswer { json in
                json.member("messageIdentifiers", objects: items) { item, json in
                    json.member("messageIdentifier", item.key)
                    json.member("messageState", item.value.state.rawValue)
                }
            }
            return ActionResult(answer: answer, isRecorded: isChanged)
        }
    )
}
