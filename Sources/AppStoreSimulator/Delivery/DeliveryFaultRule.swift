/// One fault of deliveries, and the notifications it applies to.
///
/// As JSON, `{"fault": "drop", "notificationType": "REFUND", "everyNth": 3, "attempts": 1}`. Every member except `fault` is
/// optional. A rule counts the notifications of its `notificationType` as they are sent, from 1. It applies to every `everyNth`
/// of them, or to all, and at most `times` times. Of several rules that apply to a notification, the first one decides.
struct DeliveryFaultRule: Codable, Sendable, Equatable {
    enum Fault: String, Codable, CaseIterable, Sendable {
        /// Does not make the first `attempts` attempts, or any; the history shows them with `result`, or `NO_RESPONSE`.
        case drop
        /// Makes the first `attempts` attempts, or one, but does not see their answers: the history shows them with `result`, or
        /// `TIMED_OUT`, and the same notification comes again.
        case loseAnswer
        /// Sends the notification once more after a success; the history does not show it.
        case duplicate
        /// Sends the notification after the next `by` ones, or after five.
        case reorder
        /// The history does not list the notification.
        case unlist
    }

    var fault: Fault
    var notificationType: String?
    var everyNth: Int?
    var times: Int?
    var attempts: Int?
    var result: String?
    var by: Int?

    static let members: Set = ["fault", "notificationType", "everyNth", "times", "attempts", "result", "by"]

    /// The result of attempt number `attempt` (from 1) that takes the place of the server's answer; `nil` when there is none.
    func result(ofAttempt attempt: Int) -> String? {
        switch fault {
        case .drop: attempt <= attempts ?? .max ? result ?? "NO_RESPONSE" : nil
        case .loseAnswer: attempt <= attempts ?? 1 ? result ?? "TIMED_OUT" : nil
        case .duplicate, .reorder, .unlist: nil
        }
    }

    /// By how many places the notification is sent later.
    var shift: Int { fault == .reorder ? by ?? 5 : 0 }

    var problem: String? {
        if let notificationType, !NotificationKind.types.contains(notificationType) {
            return "\"notificationType\" is \"\(notificationType)\", which Apple does not have."
        }
        if let result, !SendAttempt.results.contains(result) || result == SendAttempt.success {
            return "\"result\" is \"\(result)\"; it must be one of Apple's failures, such as TIMED_OUT."
        }
        let counts = [("everyNth", everyNth), ("times", times), ("attempts", attempts), ("by", by)]
        if let (name, value) = counts.first(where: { $0.1.map { $0 < 1 } ?? false }) {
            return "\"\(name)\" is \(value ?? 0); it must be at least 1."
        }
        return nil
    }
}
