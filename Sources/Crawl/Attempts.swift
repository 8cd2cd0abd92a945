import AppStoreModel
import JobPlan

/// The attempts made for one page, and the next step after a failure.
struct Attempts {
    enum NextStep {
        case waitForApple(retryAfter: [String], date: String?)
        case renewToken
        case again(after: Duration)
        case end(ItemOutcome)
    }

    private let rules: CrawlRules
    private let item: WorkItem
    private let effects: [AppleErrorCode: ErrorEffect]
    private var history = AttemptHistory()
    /// Requests sent for the page, successful or not.
    private(set) var requests = 0
    /// Whether the latest request failed because a reused connection was closed.
    ///
    /// Other idle connections may be closed too.
    private(set) var needNewConnection = false

    init(for item: WorkItem, rules: CrawlRules) {
        self.rules = rules
        self.item = item
        effects = AllStreams.type(of: item.stream)?.errorEffects ?? .ofEveryStream
        history.cursorWasRestarted = item.restarts >= rules.restartsPerRun
        history.windowWasClamped = item.restarts >= rules.restartsPerRun
        history.mayTryOtherEnvironment = rules.otherEnvironment != nil && item.otherEnvironment == nil
    }

    mutating func sent() {
        requests += 1
    }

    /// Takes back ``sent()``, because the request was not sent after all.
    mutating func wasNotSent() {
        requests -= 1
    }

    /// Decides the next step by ``AppStoreModel/RequestFailure/disposition(after:effects:now:)`` and the run's retry
    /// quota.
    ///
    /// - Parameters:
    ///   - failure: Of the latest request.
    ///   - health: Holds the retry quota and the circuit breaker.
    ///   - now: This machine's clock.
    ///   - random: In `0..<1`.
    /// - Returns: The next step.
    /// - Throws: ``StopReason`` when the run must end.
    mutating func next(
        after failure: RequestFailure,
        health: CrawlHealth,
        now: UnixMilliseconds,
        random: Double
    ) throws -> NextStep {
        if case .keptConnectionLost = failure { needNewConnection = true } else { needNewConnection = false }
        if failure.report.status != 401 { history.tokenWasRenewed = false }
        switch failure.disposition(after: history, effects: effects, now: now) {
        case .waitThenRepeat(let retryAfter, let date):
            return .waitForApple(retryAfter: retryAfter, date: date)
        case .renewToken:
            history.tokenWasRenewed = true
            return .renewToken
        case .repeatAtOnce:
            history.keptConnectionWasLost = true
            return .again(after: .zero)
        case .retry(let retry):
            guard try health.affordsRetry() else { return .end(putOff(failure.report)) }
            let delay = retry.backoff.delay(afterAttempt: history.attempts, random: random)
            history.attempts += 1
            return .again(after: delay)
        case .deferItem(let report):
            _ = try health.affordsRetry()
            return .end(putOff(report))
        case .failItem(let report):
            try health.failed(report)
            return .end(.failed(code: report.code ?? report.status.map(Int64.init), message: report.message))
        case .restartCursor(let report):
            return .end(.restarted(code: report.code, message: report.message))
        case .clampWindow(let report):
            return .end(.shortened(code: report.code, message: report.message))
        case .tryOtherEnvironment:
            guard let environment = rules.otherEnvironment else { preconditionFailure("no other environment") }
            return .end(.moved(environment))
        case .stopRun(let reason):
            throw reason
        }
    }

    private func putOff(_ report: FailureReport) -> ItemOutcome {
        let code = report.code ?? report.status.map(Int64.init)
        guard item.deferrals < rules.deferralsPerRun else { return .failed(code: code, message: report.message) }
        return .putOff(delay: rules.deferral(item.deferrals + 1), code: code, message: report.message)
    }
}
