import Normalize
import StrictJSON

/// The body of a request, read as one of Apple's two formats.
enum NotificationBody {
    /// With the member `signedPayload`.
    case version2(String)
    case version1(NotificationV1)

    /// The body is not a notification, so that no later attempt can succeed.
    struct Unreadable: Error, Equatable {
        /// One sentence for the answer; nothing of the body is in it.
        let sentence: String
    }

    /// The bundle ID that it claims to be about, unverified.
    var claimedBundleId: String? {
        switch self {
        case .version2(let text): ClaimedNotification(text).bundleId
        case .version1(let notification): notification.bundleId
        }
    }

    init(_ bytes: [UInt8]) throws(Unreadable) {
        let object: JSONElement
        do throws(StrictJSONError) { object = try StrictJSON.scanObject(bytes) } catch {
            throw Unreadable(sentence: "The body is not a JSON object (\(error.reason.rawValue)).")
        }
        if let payload = object["signedPayload"] {
            guard let text = payload.string else { throw Unreadable(sentence: "signedPayload is not a text.") }
            self = .version2(text)
            return
        }
        guard let members = object.object, let notification = NotificationV1(members) else {
            throw Unreadable(sentence: "The body has neither signedPayload nor notification_type.")
        }
        self = .version1(notification)
    }
}
