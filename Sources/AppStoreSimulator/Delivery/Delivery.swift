/// The delivery of one notification to the app's server.
struct Delivery: Sendable {
    let notification: Notification
    /// The order in which notifications were sent.
    let number: Int
    /// The attempts that the history shows, in the order of their dates.
    private(set) var attempts: [SendAttempt]
    /// When the next attempt is due, in milliseconds since 1970; `nil` when Apple does not try any more.
    private(set) var due: Int64?
    /// Whether an attempt is being made, or is about to be.
    var isUnderWay = false
    /// The number of posts that the server answered with a status from 200 to 206.
    var answered = 0
    /// Whether Apple's history has notifications of this version.
    private let isInHistory: Bool
    /// The rule that applies to the notification.
    var fault: DeliveryFaultRule?
    /// The body of every post; Apple resends the same notification.
    var body: [UInt8]?

    /// - `attempts`: Those made before the simulator was restarted.
    init(
        _ notification: Notification,
        number: Int,
        attempts: [SendAttempt],
        schedule: RetrySchedule,
        isInHistory: Bool
    ) {
        self.notification = notification
        self.isInHistory = isInHistory
        self.number = number
        self.attempts = attempts
        due = Self.due(after: attempts, of: notification, schedule)
    }

    /// Adds an attempt.
    mutating func record(_ attempt: SendAttempt, schedule: RetrySchedule) {
        attempts.append(attempt)
        due = Self.due(after: attempts, of: notification, schedule)
        isUnderWay = false
        if due == nil { body = nil }
    }

    private static func due(
        after attempts: [SendAttempt],
        of notification: Notification,
        _ schedule: RetrySchedule
    ) -> Int64? {
        guard let last = attempts.last else { return notification.date }
        guard last.result != SendAttempt.success, attempts.count <= schedule.pauses.count else { return nil }
        return last.date + schedule.pauses[attempts.count - 1]
    }

    /// The place in the order of sending: the number, unless a fault sends the notification after later ones.
    var place: Int { number + (fault?.shift ?? 0) }

    /// Whether the history lists the notification.
    var isListed: Bool { isInHistory && fault?.fault != .unlist }

    /// The notification with the attempts that were made, as the history shows it.
    var shown: Notification {
        var shown = notification
        shown.attempts = attempts
        if !isListed { shown.delay = .max - shown.date }
        return shown
    }

    /// The JSON of a line of `GET /simulator/deliveries`.
    var json: [UInt8] {
        jsonObject {
            $0.member("notificationUUID", notification.uuid)
            $0.member("notificationType", notification.kind.type)
            $0.member("signedDate", notification.date)
            $0.member("sendAttempts", raw: attempts.json)
            $0.member("answered", Int64(answered))
            $0.member("nextAttemptDate", due)
            $0.member("isListed", isListed)
            $0.member("fault", fault?.fault.rawValue)
        }
    }
}
