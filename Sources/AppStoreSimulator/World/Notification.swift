/// One notification that the store sent to the app's server, with all attempts to deliver it.
struct Notification: Sendable, Equatable {
    let uuid: String
    let kind: NotificationKind
    /// The date of the event and of the signature, in milliseconds since 1970.
    let date: Int64
    /// `nil` when it is not about one customer.
    let customer: CustomerIdentity?
    let content: Content
    /// All attempts, including future ones; those that were made when the simulator posts the notification.
    var attempts: [SendAttempt]
    /// How much later than ``date`` the history lists it, in milliseconds; 0 unless it is a late one.
    var delay: Int64 = 0

    indirect enum Content: Sendable, Equatable {
        case transaction(Transaction, Renewal?, consumptionReason: String?)
        case summary(Summary)
        case externalToken(SimulatedPurchaseToken)
        case appTransaction(SimulatedAppTransaction)
        /// The IDs of seat claims that Apple has ended.
        case unclaimedSeats([String])
        case none
    }

    /// The result of a request to extend all subscriptions.
    struct Summary: Sendable, Equatable {
        let requestIdentifier: String
        let productId: String
        /// `nil` for all storefronts.
        let storefronts: [String]?
        let succeeded: Int64
        let failed: Int64
    }

    /// The moment from which the history lists it, in milliseconds since 1970.
    var visibleFrom: Int64 { date + delay }

    /// The attempts made until `now`, which is in milliseconds since 1970.
    func attempts(until now: Int64) -> ArraySlice<SendAttempt> {
        attempts.prefix { $0.date <= now }
    }

    func isDelivered(by now: Int64) -> Bool { attempts(until: now).contains { $0.result == SendAttempt.success } }
}

struct SendAttempt: Sendable, Equatable {
    let date: Int64
    let result: String

    static let success = "SUCCESS"

    /// Every result that an attempt can have.
    ///
    /// Source: `sendAttemptResult`, read 2026-11.
    static let results = Set(failures + [success])

    private static let failures = [
        "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE", "UNSUPPORTED_CHARSET",
        "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "OTHER",
    ]

    /// All attempts for a notification of `date`: in 80% one success, otherwise one or more failures first or only failures.
    static func attempts(from date: Int64, retries: Bool, random: inout SplitMix64) -> [SendAttempt] {
        let failuresFirst = random.chance(percent: 80) ? 0 : 1 + random.below(7)
        var moment = date + 1_000 + random.within(0..<2_000)
        var attempts: [SendAttempt] = []
        for pause in [0] + RetrySchedule.versionTwo.pauses {
            guard attempts.isEmpty || retries else { break }
            moment += pause
            let succeeds = attempts.count == failuresFirst
            attempts.append(SendAttempt(date: moment, result: succeeds ? success : random.pick(failures)))
            if succeeds { break }
        }
        return attempts
    }
}

extension Sequence<SendAttempt> {
    /// The JSON of `sendAttempts`.
    var json: [UInt8] {
        let items = map { attempt in
            jsonObject {
                $0.member("attemptDate", attempt.date)
                $0.member("sendAttemptResult", attempt.result)
            }
        }
        return [UInt8(ascii: "[")] + items.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }
}
