import AppStoreModel
import Basics

extension Route {
    /// Get Test Notification Status: the test notification that a token stands for, with the attempts to deliver it.
    static let testNotificationStatus = Route(
        "testNotificationStatus",
        .get,
        "/inApps/v1/notifications/test/{testNotificationToken}",
        requestsPerSecond: 1
    ) { request, context throws(APIError) in
        let token = request.parameters["testNotificationToken"] ?? ""
        guard isToken(token) else { throw .testNotificationToken }
        let now = context.now.rawValue
        guard let notification = context.world.testNotification(token), notification.date > now - tokenLifetime else {
            throw .testNotificationNotFound
        }
        let attempts = notification.attempts(until: now)
        guard !attempts.isEmpty else { throw .testNotificationNotFound }
        let json = attempts.json
        return SimulatedAnswer(records: [.notification(notification, in: context.world.app)]) { signed, answer in
            if let jws = signed.first { answer.member("signedPayload", jws) }
            answer.member("sendAttempts", raw: json)
        }
    }

    /// In milliseconds: six months.
    private static let tokenLifetime = 182 * Moment.day

    /// A UUID, an underscore and digits.
    private static func isToken(_ text: String) -> Bool {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 2 && UUIDText.bytes(of: String(parts[0])) != nil && UInt64(parts[1]) != nil
    }
}
