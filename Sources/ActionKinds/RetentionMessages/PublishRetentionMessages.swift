package import AppStoreModel
package import StrictJSON
import Streams

/// Upload Image, Upload Message, Configure Default Message, and the calls that delete: the messages that a customer sees who is about to
/// cancel a subscription.
///
/// The input is a folder, and each row is one request. Apple reviews images and messages, so such a row is confirming until Apple's list
/// says APPROVED or REJECTED. Source: Retention Messaging API 1.5, read 2026-11.
package enum PublishRetentionMessages: AppStoreAction {
    package static let name = StreamName("publishRetentionMessages")
    package static let requestsPerSecond = 1.0
    package static let takesFolder = true

    /// The columns of a row, which ``name``'s result files have; the files of the folder have some of them.
    package static let columns = [
        ActionColumn("kind", .choice(RetentionRequestKind.allCases.map(\.rawValue)), isRequired: true),
        ActionColumn("message_id", .uuid),
        ActionColumn("header", .text(RetentionLimits.header)),
        ActionColumn("body", .text(RetentionLimits.body)),
        ActionColumn("header_position", .choice(["ABOVE_BODY", "ABOVE_IMAGE"])),
        ActionColumn("image_id", .uuid),
        ActionColumn("image_file", .text(4_096)),
        ActionColumn("image_sha256", .sha256),
        ActionColumn("image_size", .choice(RetentionLimits.imageSizes)),
        ActionColumn("alt_text", .text(RetentionLimits.altText)),
        ActionColumn("bullet_points", .bulletPoints),
        ActionColumn("product_id", .productID),
        ActionColumn("locale", .locale),
        // The subjects of the images and the message that the row needs.
        ActionColumn("waits_for", .words),
    ]
    package static let subject: String? = nil
    package static let subjectKind: ActionSubject? = nil

    package static func kind(of row: ActionParameters) -> RetentionRequestKind? {
        row.text("kind").flatMap(RetentionRequestKind.init)
    }

    /// What a row is about, such as `message/7e3fb20b-4cdb-47cc-936d-99d65f608138`.
    package static func subject(of row: ActionParameters) -> String? {
        switch kind(of: row) {
        case .image, .deleteImage: row.text("image_id").map(subject(ofImage:))
        case .message, .deleteMessage: row.text("message_id").map(subject(ofMessage:))
        case .defaultMessage, .deleteDefault:
            row.text("product_id").flatMap { product in row.text("locale").map { "default/\(product)/\($0)" } }
        case nil: nil
        }
    }

    package static func subject(ofImage id: String) -> String { "image/\(id)" }
    package static func subject(ofMessage id: String) -> String { "message/\(id)" }

    // MARK: The calls

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        func path(_ words: String...) -> String {
            "/inApps/v1/messaging/" + words.map(\.percentEncoded).joined(separator: "/")
        }
        let (image, message) = (row.text("image_id") ?? "", row.text("message_id") ?? "")
        let product = path("default", row.text("product_id") ?? "", row.text("locale") ?? "")
        return switch kind(of: row) {
        case .message: .put(path("message", message), body: body(of: row))
        case .defaultMessage: .put(product, body: json([("messageIdentifier", .string(message))]))
        case .deleteDefault: .delete(product)
        case .deleteMessage: .delete(path("message", message))
        case .deleteImage: .delete(path("image", image))
        // A row without a kind is invalid and is not sent.
        case .image, nil:
            .put(
                path("image", image),
                [("imageSize", row.text("image_size"))],
                image: .init(name: row.text("image_file") ?? "", sha256: row.text("image_sha256") ?? "")
            )
        }
    }

    /// UploadMessageRequestBody.
    package static func body(of row: ActionParameters) -> [UInt8] {
        let image = row.text("image_id").map { id in
            JSONValue.object(.of([("imageIdentifier", .string(id)), ("altText", row["alt_text"]?.json)]))
        }
        return json([
            ("header", row["header"]?.json), ("body", row["body"]?.json), ("image", image),
            ("headerPosition", row["header_position"]?.json), ("bulletPoints", row["bullet_points"]?.json),
        ])
    }

    private static func json(_ members: [(String, JSONValue?)]) -> [UInt8] { JSONWriter.bytes(.object(.of(members))) }

    package static let endpoints: [ActionEndpoint] =
        RetentionRequestKind.allCases.map { .init(name: $0.endpoint, requestsPerSecond: $0.requestsPerSecond) }
        + RetentionList.allCases.map { .init(name: $0.endpoint, requestsPerSecond: 1) }
        + [.init(name: RetentionDefault.endpoint, requestsPerSecond: 1)]

    package static func endpoint(of row: ActionParameters) -> StreamName { kind(of: row)?.endpoint ?? name }

    /// What is kept with an upload that Apple has, for a later process.
    package static let accepted = JSONObject.of([("accepted", .bool(true))])

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome { .succeeded(accepted) }

    /// Apple's list that shows the state of an accepted image or message.
    package static func followUpRequest(_ row: ActionParameters, answer: JSONObject) -> AppStoreRequest? {
        answer["accepted"] == nil ? nil : list(of: row)?.request
    }

    /// The list that shows the state of the row's upload; `nil` for a row that Apple does not review.
    package static func list(of row: ActionParameters) -> RetentionList? {
        switch kind(of: row) {
        case .image: .images
        case .message: .messages
        default: nil
        }
    }

    package static func readBack(of row: ActionParameters) -> ActionReadBack? {
        switch kind(of: row) {
        case .image, .deleteImage: .retentionList(.images)
        case .message, .deleteMessage: .retentionList(.messages)
        case .defaultMessage, .deleteDefault:
            row.text("product_id").flatMap { product in
                row.text("locale").map { .defaultMessage(product: product, locale: $0) }
            }
        case nil: nil
        }
    }

    /// Apple refuses a second upload of an ID, and a second deletion.
    package static func effect(of code: AppleErrorCode, on row: ActionParameters) -> ActionErrorEffect {
        switch (kind(of: row), code) {
        case (.image, .imageAlreadyExists), (.message, .messageAlreadyExists), (.deleteImage, .imageNotFound),
            (.deleteMessage, .messageNotFound), (.deleteDefault, .defaultMessageNotFound):
            .provesEarlierRequest
        default: errorEffects[code] ?? .rejectsRow
        }
    }

    // MARK: The rules

    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        guard let kind = kind(of: row) else { return nil }
        if let missing = kind.needed.first(where: { row[$0] == nil }) {
            let rule = columns.first { $0.name == missing }?.rule ?? ""
            return (missing, "\(missing) is missing; it must be \(rule)")
        }
        guard kind == .message else { return nil }
        if (row["image_id"] == nil) != (row["alt_text"] == nil) {
            let rule = row["alt_text"] == nil ? "alt_text" : "image_file"
            return (rule, "\(rule) is missing; an image and its alt_text belong together")
        }
        if row.text("header_position") == "ABOVE_IMAGE", row["image_id"] == nil {
            return ("header_position", "header_position ABOVE_IMAGE needs an image (4000224)")
        }
        return nil
    }
}

/// The message that Apple shows for a product in a language.
package enum RetentionDefault {
    package static let endpoint = StreamName("defaultMessage")

    /// Get Default Message.
    package static func request(product: String, locale: String) -> AppStoreRequest {
        .get("/inApps/v1/messaging/default/\(product.percentEncoded)/\(locale.percentEncoded)")
    }

    /// Reads the message's identifier, in lower case, in the body of a 200 answer; `nil` for another body.
    package static func message(_ body: [UInt8]) -> String? {
        (try? StrictJSON.parseObject(body))?["messageIdentifier"]?.string?.lowercased()
    }
}
