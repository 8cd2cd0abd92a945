package import AppStoreModel
package import StrictJSON

/// Request a Test Notification: Apple sends one to the app's server, and says whether it arrived.
///
/// After a lost answer another one is requested, which is harmless. Source: Request a Test Notification, Get Test Notification
/// Status, read 2026-11.
package enum RequestTestNotification: AppStoreAction {
    package static let name = StreamName("requestTestNotification")
    package static let requestsPerSecond = 1.0
    package static let columns: [ActionColumn] = []
    package static let subject: String? = nil
    package static let subjectKind: ActionSubject? = nil

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .post("/inApps/v1/notifications/test")
    }

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body), let token = answer["testNotificationToken"]?.string
        else { throw .badPage(reason: "the answer has no testNotificationToken") }
        return .succeeded(.of([("testNotificationToken", .string(token))]))
    }

    package static let followUp: ActionFollowUp? = ActionFollowUp(
        endpoint: StreamName("testNotificationStatus"),
        requestsPerSecond: 1,
        remedy: "Run again later, or plan another test notification"
    )

    package static func followUpRequest(_ row: ActionParameters, answer: JSONObject) -> AppStoreRequest? {
        answer["testNotificationToken"]?.string.map { .get("/inApps/v1/notifications/test/\($0.percentEncoded)") }
    }

    /// Complete after the first attempt to deliver the notification.
    package static func progress(_ body: [UInt8]) throws(RequestFailure) -> JSONObject? {
        guard let answer = try? StrictJSON.parseObject(body) else {
            throw .badPage(reason: "the answer is not a JSON object")
        }
        guard let attempt = answer["sendAttempts"]?.array?.last?.object else { return nil }
        return .of([
            ("sendAttemptResult", attempt["sendAttemptResult"]), ("attemptDate", attempt["attemptDate"]),
        ])
    }
}
