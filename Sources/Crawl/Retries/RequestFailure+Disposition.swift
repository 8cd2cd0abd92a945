package import AppStoreModel
package import Streams

extension RequestFailure {
    /// What the crawl does after this failure.
    ///
    /// All such decisions are made here.
    ///
    /// Source: Apple's "App Store Server API error codes", read 2026-11. Cases that Apple leaves open are decided here.
    ///
    /// - Parameters:
    ///   - history: What was tried before. Some actions are allowed only a limited number of times.
    ///   - effects: What Apple's error codes mean for the stream.
    ///   - hasNumberedErrors: See ``Streams/AppStoreStream/hasNumberedErrors``.
    ///   - now: This machine's clock, to report a wrong clock.
    /// - Returns: An action that `history` still allows.
    package func disposition(
        after history: AttemptHistory,
        effects: [AppleErrorCode: ErrorEffect],
        hasNumberedErrors: Bool = true,
        now: UnixMilliseconds
    ) -> Disposition {
        switch self {
        case .transport:
            .repeating(.ordinary, history, otherwise: .deferItem(report))
        case .tooLate:
            .repeatAtOnce
        case .keptConnectionLost where !history.keptConnectionWasLost:
            .repeatAtOnce
        case .keptConnectionLost:
            .repeating(.ordinary, history, otherwise: .deferItem(report))
        case .tls:
            .stopRun(.contractBroken(report))
        case .badPage:
            .repeating(.limited(2), history, otherwise: .failItem(report))
        case .answered(let answer):
            disposition(of: answer, after: history, effects: effects, hasNumberedErrors: hasNumberedErrors, now: now)
        }
    }

    private func disposition(
        of answer: HTTPAnswer,
        after history: AttemptHistory,
        effects: [AppleErrorCode: ErrorEffect],
        hasNumberedErrors: Bool,
        now: UnixMilliseconds
    ) -> Disposition {
        // `nil` if there is no code, the code is unknown, or Apple documents the code with another status.
        let code = answer.errorCode.flatMap(AppleErrorCode.init).flatMap { $0.status == answer.status ? $0 : nil }
        if let effect = code.flatMap({ effects[$0] }) { return disposition(by: effect, after: history) }
        return switch answer.status {
        case 429:
            .waitThenRepeat(retryAfter: answer.retryAfter, date: answer.date)
        case 401:
            switch history.keyPatience.decision(on: answer, refusals: history.refusals, now: now) {
            case .repeats: .repeatRefused
            case .leavesRequest(let report): .deferItem(report)
            case .endsRun(let report): .stopRun(.credentials(report))
            }
        // Apple documents no 403 for the endpoints that are crawled, so it can be about the key or about this item.
        case 403:
            history.keyWasAccepted ? .failItem(report.withUnknownCode) : .checkKey(.credentials(report))
        // An answer without Apple's code is not from Apple: the URL is wrong, or a proxy answered.
        case 404 where answer.errorCode == nil:
            .repeating(.limited(2), history, otherwise: .stopRun(.contractBroken(report)))
        case 400, 404:
            .failItem(hasNumberedErrors || answer.errorCode == nil ? report.withUnknownCode : report)
        case 408, 425, 500...:
            .repeating(.ordinary, history, otherwise: .deferItem(report))
        // Redirections, successes other than 200, and errors that Apple does not document.
        default:
            .stopRun(.contractBroken(report))
        }
    }

    private func disposition(by effect: ErrorEffect, after history: AttemptHistory) -> Disposition {
        switch effect {
        case .failsItem: .failItem(report)
        case .answersNothing: .emptyAnswer
        case .restartsItem: history.hasUsedUpRestarts ? .failItem(report) : .restartCursor(report)
        case .shortensWindow: history.hasUsedUpRestarts ? .failItem(report) : .shortenWindow(report)
        case .retriesSoon: .repeating(.short, history, otherwise: .deferItem(report))
        case .retriesTwice: .repeating(.limited(2), history, otherwise: .deferItem(report))
        case .triesOtherEnvironment:
            history.mayTryOtherEnvironment ? .tryOtherEnvironment(report) : .failItem(report)
        case .stopsRunForBadJob: .stopRun(.badJob(report))
        case .stopsRunForOtherApp: .stopRun(.configuration(report))
        }
    }
}

extension Disposition {
    fileprivate static func repeating(
        _ retry: Retry,
        _ history: AttemptHistory,
        otherwise exhausted: Disposition
    ) -> Disposition {
        history.attempts < retry.attempts ? .retry(retry) : exhausted
    }
}

extension FailureReport {
    fileprivate var withUnknownCode: FailureReport {
        var report = self
        report.isUnknownCode = true
        return report
    }
}
