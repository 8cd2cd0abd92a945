import AppStoreModel
import Basics
import StrictJSON

extension Route {
    /// In bytes; Apple documents no limit.
    private static let mostImageBytes = 32 * 1_024 * 1_024

    /// Upload Image: a PNG without transparency, which Apple reviews.
    static let uploadImage = Route(
        "uploadImage",
        .put,
        "/inApps/v1/messaging/image/{imageIdentifier}",
        requestsPerSecond: 1,
        maximumBodyLength: mostImageBytes,
        // The journal has what decides, and not the picture.
        body: { request throws(APIError) in
            let size = try request.query["imageSize"] ?? "FULL_SIZE"
            let image = PNGFacts(request.body)
            return jsonObject {
                $0.member("imageSize", size)
                $0.member("width", image.map { Int64($0.width) })
                $0.member("height", image.map { Int64($0.height) })
                $0.member("isOpaque", image?.isOpaque == true)
            }
        },
        action: { request, world throws(APIError) in
            let id = try request.identifier("imageIdentifier")
            let facts = try? StrictJSON.parseObject(request.body)
            let size = facts?["imageSize"]?.string ?? ""
            guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else { throw .imageSize }
            guard let width = facts?.integer("width"), let height = facts?.integer("height"),
                facts?["isOpaque"]?.bool == true,
                size == "BULLET_POINT"
                    ? (width, height) == (1_024, 1_024) : width == 3_840 && (160...2_160).contains(height)
            else { throw .image }
            guard world.retention.images[id] == nil else { throw .imageAlreadyExists }
            guard world.retention.images.count < RetentionStore.most else { throw .tooManyImages }
            var upload = world.newUpload(id)
            upload.size = size
            world.retention.images[id] = upload
            world.actions.record(request, requestIdentifier: id, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )

    /// Delete Image.
    static let deleteImage = Route(
        "deleteImage",
        .delete,
        "/inApps/v1/messaging/image/{imageIdentifier}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let id = try request.identifier("imageIdentifier")
            guard world.retention.images[id] != nil else { throw .imageNotFound }
            guard !world.retention.messages.values.contains(where: { $0.images.contains(id) }) else {
                throw .imageInUse
            }
            world.retention.images[id] = nil
            world.actions.record(request, requestIdentifier: id, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )

    /// Get Image List.
    ///
    /// Each request also goes on with the review, as time does at Apple.
    static let imageList = Route(
        "imageList",
        .get,
        "/inApps/v1/messaging/image/list",
        requestsPerSecond: 1,
        action: { _, world throws(APIError) in
            let isChanged = RetentionStore.review(&world.retention.images)
            let items = world.retention.images.sorted { $0.key < $1.key }
            let answer = SimulatedAnswer { json in
                json.member("imageIdentifiers", objects: items) { item, json in
                    json.member("imageIdentifier", item.key)
                    json.member("imageState", item.value.state.rawValue)
                    json.member("imageSize", item.value.size ?? "")
                }
            }
            return ActionResult(answer: answer, isRecorded: isChanged)
        }
    )
}

extension ActionRequest {
    /// A path parameter that is a UUID, in lower case.
    ///
    /// Throws ``APIError/badRequest`` when it is not one.
    func identifier(_ name: String) throws(APIError) -> String {
        guard let bytes = parameters[name].flatMap(UUIDText.bytes(ofAnyForm:)) else { throw .badRequest }
        return UUIDText.text(of: bytes)
    }
}

extension World {
    /// The state of a new image or message.
    func newUpload(_ id: String) -> RetentionStore.Upload {
        RetentionStore.upload(id, lists: parameters.reviewRequests, inSandbox: parameters.environment == .sandbox)
    }
}

/// What the first chunks of a PNG file say.
private struct PNGFacts {
    let width: Int
    let height: Int
    let isOpaque: Bool

    /// - Returns: `nil` for bytes that do not begin as a PNG file does.
    init?(_ bytes: [UInt8]) {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        guard bytes.count >= 33, bytes.starts(with: signature), bytes[12..<16].elementsEqual("IHDR".utf8) else {
            return nil
        }
        func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        (width, height) = (number(16), number(20))
        let transparency = Array("tRNS".utf8)
        let head = bytes.prefix(4_096)
        let hasColour = head.indices.dropLast(3).contains { head[$0..<$0 + 4].elementsEqual(transparency) }
        isOpaque = bytes[25] != 4 && bytes[25] != 6 && !hasColour
    }
}
