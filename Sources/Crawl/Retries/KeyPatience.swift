package import AppStoreModel
import RateLimit

/// What follows from a 401: the one rule for crawls, batches and `doctor`.
///
/// Apple at times answers 401 although the key is good: for some seconds after a token was signed, or for single requests
/// on some days. A 401 says that Apple did nothing, so every request can be repeated, even one that changes something. Each
/// repeat needs a separate permit. Apple refuses the key only if it answers nothing but 401 for a minute.
package struct KeyPatience: Equatable, Sendable {
    package enum Decision: Equatable, Sendable {
        /// The request is sent again after ``KeyPatience/pause(afterRefusal:random:)``.
        case repeats
        /// Apple accepts the key for other requests, but has refused it for this one each time.
        case leavesRequest(FailureReport)
        /// Apple refuses the key.
        case endsRun(FailureReport)
    }

    /// The most 401s in a row for one request; their pauses add up to more than a minute.
    package static let refusalsPerRequest = 12

    /// How long Apple must answer nothing but 401 until the run ends.
    private let limit: Duration

    /// A minute of Apple's hour.
    ///
    /// - Parameter window: A run against the simulator can have a shorter one. The time shrinks with it, but not below five
    ///   seconds.
    package init(window: RateWindow = .hour) {
        limit = max(window.length / 60, .seconds(5))
    }

    /// - Parameters:
    ///   - answer: With status 401.
    ///   - refusals: The 401s in a row for the request, including this one.
    ///   - now: This machine's clock, to report a wrong clock.
    package func decision(on answer: HTTPAnswer, refusals: Int, now: UnixMilliseconds) -> Decision {
        if answer.refusals.duration >= limit { return .endsRun(answer.refusal(now: now)) }
        guard refusals >= Self.refusalsPerRequest else { return .repeats }
        return .leavesRequest(
            FailureReport(status: answer.status, code: answer.errorCode, message: Self.onlyThisRequest)
        )
    }

    /// The wait before a refused request is sent again: half a second, and twice as long each time, up to 8 s.
    ///
    /// - Parameters:
    ///   - refusal: 1 for the first 401 in a row.
    ///   - random: In `0..<1`; adds up to half of the wait, so that many workers do not send at the same moment.
    /// - Returns: 0.5 s to 12 s.
    package static func pause(afterRefusal refusal: Int, random: Double) -> Duration {
        Duration.milliseconds(500) * (1 << min(max(refusal, 1) - 1, 4)) * (1 + random / 2)
    }

    private static let onlyThisRequest = "Apple refuses the bearer token for this request, and accepts it for others"
}

extension HTTPAnswer {
    /// Describes the last 401.
    ///
    /// Names a wrong clock as the cause if the `Date` header shows it.
    fileprivate func refusal(now: UnixMilliseconds) -> FailureReport {
        var sentence = "Apple refuses the key: nothing but 401 for \(refusals.duration.components.seconds) s"
        if let skew = clockSkew(now: now), abs(skew.components.seconds) > 300 {
            sentence += "; the local clock is off by \(skew.components.seconds) s"
        }
        var report = FailureReport(status: status, code: errorCode, message: sentence)
        if refusals.keyWasAccepted {
            report.remedy = """
                Apple accepted the key earlier in this run, so the job file is right: the key was revoked since then, or Apple has an \
                outage. Look at the key in App Store Connect > Users and Access > Integrations > In-App Purchase, and at Apple's \
                system status page.
                """
        }
        return report
    }

    /// How far this machine's clock is ahead of the server's; `nil` if the `Date` header is missing or implausible.
    package func clockSkew(now: UnixMilliseconds) -> Duration? {
        HTTPDate.ofServer(date).map { now - $0 }
    }
}
