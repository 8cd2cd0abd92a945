/// One notification the store sent to the app's server, and how the sending went.
struct Notification: Sendable, Equatable {
    let uuid: String
    let kind: NotificationKind
    /// When it happened and was signed.
    ///
    /// Milliseconds since 1970.
    let date: Int64
    /// `nil` for what concerns no customer.
    let customer: CustomerIdentity?
    let content: Content
    let attempts: [SendAttempt]

    indirect enum Content: Sendable, Equatable {
        case transaction(Transaction, Renewal?, consumptionReason: String?)
        case summary(requestIdentifier: String, succeeded: Int64, failed: Int64)
        case externalToken(id: String)
        case appTransaction(AppTransaction)
        case none
    }

    var isDelivered: Bool { attempts.contains { $0.result == "SUCCESS" } }
}

struct SendAttempt: Sendable, Equatable {
    let date: Int64
    let result: String

    /// Apple tries again 1, 12, 24, 48 and 72 hours after the attempt before, in production only.
    private static let pauses = [1, 12, 24, 48, 72].map { $0 * Moment.hour }

    private static let failures = [
        "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE", "UNSUPPORTED_CHARSET",
        "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "OTHER",
    ]

    /// What happened until `now`: mostly one success, sometimes failures first, now and then nothing but failures.
    static func attempts(from date: Int64, until now: Int64, retries: Bool, random: inout SplitMix64) -> [SendAttempt] {
        let failuresFirst = random.chance(percent: 80) ? 0 : 1 + random.below(7)
        var moment = date + 1_000 + random.within(0..<2_000)
        var attempts: [SendAttempt] = []
        for pause in [nil] + pauses.map(Optional.some) {
            if let pause {
                guard retries else { break }
                moment += pause
            }
            guard attempts.isEmpty || moment < now else { break }
            let succeeds = attempts.count == failuresFirst
            attempts.append(SendAttempt(date: moment, result: succeeds ? "SUCCESS" : random.pick(failures)))
            if succeeds { break }
        }
        return attempts
    }
}
