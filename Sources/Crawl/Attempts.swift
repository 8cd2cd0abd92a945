import AppStoreModel
import Streams

/// The attempts made for one page; decides the next step after a failed attempt.
struct Attempts {
    /// The next step for the page.
    ///
    /// All but ``emptyAnswer`` and ``end(_:)`` lead to another attempt.
    enum NextStep {
        /// Apple answered 429; the values are its raw `Retry-After` and `Date` headers.
        case waitForApple(retryAfter: [String], date: String?)
        /// Apple answered 403: the run ends for this reason unless Apple accepts the key for another request.
        case checkKey(StopReason)
        case retry(after: Duration)
        /// Apple has nothing for the item: the same as a last page without records.
        case emptyAnswer
        case end(ItemOutcome)
    }

    private let rules: CrawlRules
    private let item: WorkItem
    private let effects: [AppleErrorCode: ErrorEffect]
    private let hasNumberedErrors: Bool
    private var history = AttemptHistory()
    /// Requests sent for the page, successful or not.
    private(set) var requests = 0
    /// Whether the latest request failed because a reused connection was closed.
    ///
    /// Other idle connections may be closed too.
    private(set) var needsNewConnection = false

    init(for item: WorkItem, rules: CrawlRules) {
        self.rules = rules
        self.item = item
        let stream = AllStreams.type(of: item.stream)
        effects = stream?.errorEffects ?? .ofEveryStream
        hasNumberedErrors = stream?.hasNumberedErrors ?? true
        history.hasUsedUpRestarts = item.restarts >= rules.restartsPerRun
        history.keyPatience = rules.keyPatience
        history.mayTryOtherEnvironment = rules.otherEnvironment != nil && item.otherEnvironment == nil
    }

    mutating func countRequest() {
        requests += 1
    }

    /// Undoes ``countRequest()`` for a request that was not sent after all.
    mutating func uncountRequest() {
        requests -= 1
    }

    /// Records that Apple accepts the key, although it refused the latest request.
    mutating func noteAcceptedKey() {
        history.keyWasAccepted = true
    }

    /// Decides the next step from ``AppStoreModel/RequestFailure/disposition(after:effects:hasNumberedErrors:now:)``
    /// and the run's retry quota.
    ///
    /// - Parameters:
    ///   - failure: The failure of the latest request.
    ///   - health: Contains the retry quota and the circuit breaker.
    ///   - now: This machine's clock.
    ///   - random: In `0..<1`.
    /// - Throws: ``StopReason`` when the run must end.
    mutating func next(
        after failure: RequestFailure,
        health: CrawlHealth,
        now: UnixMilliseconds,
        random: Double
    ) throws -> NextStep {
        if case .keptConnectionLost = failure { needsNewConnection = true } else { needsNewConnection = false }
        history.refusals = failure.report.status == 401 ? history.refusals + 1 : 0
        let disposition = failure.disposition(
            after: history,
            effects: effects,
            hasNumberedErrors: hasNumberedErrors,
            now: now
        )
        switch disposition {
        case .waitThenRepeat(let retryAfter, let date):
            return .waitForApple(retryAfter: retryAfter, date: date)
        case .repeatRefused:
            return .retry(after: KeyPatience.pause(afterRefusal: history.refusals, random: random))
        case .checkKey(let reason):
            return .checkKey(reason.naming(item))
        case .repeatAtOnce:
            history.keptConnectionWasLost = true
            return .retry(after: .zero)
        case .retry(let retry):
            guard try health.requestFailed(failure.report) else { return .end(deferOrFail(failure.report)) }
            let delay = retry.backoff.delay(afterAttempt: history.attempts, random: random)
            history.attempts += 1
            return .retry(after: delay)
        case .emptyAnswer:
            return .emptyAnswer
        case .deferItem(let report):
            // The item is postponed with or without quota, but the failure counts.
            _ = try health.requestFailed(report)
            return .end(deferOrFail(report))
        case .failItem(let report):
            try health.itemFailed(report)
            return .end(.failed(code: report.code ?? report.status.map(Int64.init), message: report.message))
        case .restartCursor(let report):
            return .end(.restarted(code: report.code, message: report.message))
        case .shortenWindow(let report):
            return .end(.shortened(code: report.code, message: report.message))
        case .tryOtherEnvironment:
            guard let environment = rules.otherEnvironment else { preconditionFailure("no other environment") }
            return .end(.moved(environment))
        case .stopRun(let reason):
            throw reason
        }
    }

    /// Postpones the item, or fails it if it was postponed too often in this run.
    private func deferOrFail(_ report: FailureReport) -> ItemOutcome {
        let code = report.code ?? report.status.map(Int64.init)
        guard item.deferrals < rules.deferralsPerRun else { return .failed(code: code, message: report.message) }
        return .deferred(delay: rules.delay(ofDeferral: item.deferrals + 1), code: code, message: report.message)
    }
}
