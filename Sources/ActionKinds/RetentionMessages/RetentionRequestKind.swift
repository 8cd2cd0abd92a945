package import AppStoreModel
import Streams

/// What one row of ``PublishRetentionMessages`` does; the raw value is the value of the column `kind`.
///
/// The order is that in which the requests are sent: a message needs its images, a default needs its message, and Apple refuses to
/// delete an image that a message has.
package enum RetentionRequestKind: String, CaseIterable, Sendable {
    case image, message
    case defaultMessage = "default"
    case deleteDefault = "delete_default"
    case deleteMessage = "delete_message"
    case deleteImage = "delete_image"

    /// The endpoint whose limit the request counts against.
    package var endpoint: StreamName {
        switch self {
        case .image: StreamName("uploadImage")
        case .message: StreamName("uploadMessage")
        case .defaultMessage: StreamName("configureDefaultMessage")
        case .deleteDefault: StreamName("deleteDefaultMessage")
        case .deleteMessage: StreamName("deleteMessage")
        case .deleteImage: StreamName("deleteImage")
        }
    }

    /// Apple's limit in production, in requests per second.
    var requestsPerSecond: Double { self == .defaultMessage ? 10 : 1 }

    /// The columns that a row needs.
    var needed: [String] {
        switch self {
        case .image: ["image_id", "image_file", "image_sha256"]
        case .message: ["message_id", "header", "body"]
        case .defaultMessage: ["product_id", "locale", "message_id"]
        case .deleteDefault: ["product_id", "locale"]
        case .deleteMessage: ["message_id"]
        case .deleteImage: ["image_id"]
        }
    }

    /// Whether Apple reviews what the request uploads.
    package var isReviewed: Bool { self == .image || self == .message }

    /// The kinds of rows that must have succeeded before a row of this kind is sent.
    ///
    /// Deletions come after the defaults of the folder, so that a product that gets another message is never without one.
    package var kindsBefore: [RetentionRequestKind] {
        switch self {
        case .image, .message, .defaultMessage: []
        case .deleteDefault: [.defaultMessage]
        case .deleteMessage: [.defaultMessage, .deleteDefault]
        case .deleteImage: [.deleteMessage]
        }
    }
}

/// Apple's list of images or of messages.
package enum RetentionList: String, Sendable, CaseIterable {
    case images, messages

    package var endpoint: StreamName { StreamName(self == .images ? "imageList" : "messageList") }

    package var request: AppStoreRequest {
        .get("/inApps/v1/messaging/\(self == .images ? "image" : "message")/list")
    }

    /// The identifier of the image or message that a row uploads or deletes.
    package func id(in row: ActionParameters) -> String { row.text(self == .images ? "image_id" : "message_id") ?? "" }
}
