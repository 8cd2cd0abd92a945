package import AppStoreModel

extension RequestFailure {
    /// What the crawl does next, decided here and nowhere else.
    ///
    /// Source: Apple's "App Store Server API error codes", read 2026-11; what Apple leaves open is ours.
    ///
    /// - Parameters:
    ///   - history: What was tried before; decides where an action is allowed once, or so many times.
    ///   - now: This machine's clock, for the hint that it may be wrong.
    /// - Returns: An action that `history` still allows.
    package func disposition(after history: AttemptHistory, now: UnixMilliseconds) -> Disposition {
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
            disposition(of: answer, after: history, now: now)
        }
    }

    private func disposition(
        of answer: HTTPAnswer,
        after history: AttemptHistory,
        now: UnixMilliseconds
    ) -> Disposition {
        // `nil` for an answer without Apple's code, and for a code that Apple does not document.
        let code = answer.errorCode.flatMap(AppleErrorCode.init)
        return switch (answer.status, code) {
        // The status wins over every code: what waits cannot be wrong.
        case (429, _):
            .waitThenRepeat(retryAfter: answer.retryAfter, date: answer.date)

        // Requests Apple refuses. The first three concern one ID.
        case (400, .invalidTransactionId), (404, .accountNotFound), (404, .originalTransactionIdNotFound):
            .failItem(report)
        case (400, .invalidRequestRevision), (400, .invalidPaginationToken), (400, .paginationTokenExpired):
            history.cursorWasRestarted ? .failItem(report) : .restartCursor(report)
        case (400, .startDateTooFarInPast):
            history.windowWasClamped ? .failItem(report) : .clampWindow(report)
        case (400, .invalidAppIdentifier), (404, .appNotFound):
            .stopRun(.configuration(report))
        case (400, .startDateAfterEndDate), (400, .invalidStartDate), (400, .invalidEndDate),
            (400, .invalidNotificationType), (400, .multipleFiltersSupplied), (400, .invalidSort),
            (400, .invalidProductType), (400, .invalidProductId), (400, .invalidSubscriptionGroupIdentifier),
            (400, .invalidExcludeRevoked), (400, .invalidInAppOwnershipType), (400, .invalidRevoked):
            .stopRun(.badJob(report))
        case (400, _):
            .failItem(report.withUnknownCode)

        // Credentials. Apple answers 401 without a body, also to a token from a clock that is ahead of its own.
        case (401, _):
            history.tokenWasRenewed ? .stopRun(.credentials(answer.refusal(now: now))) : .renewToken
        case (403, _):
            .stopRun(.credentials(report))

        // Not found. Without Apple's code it was not Apple who answered: a wrong URL, or a proxy.
        case (404, .accountNotFoundRetryable), (404, .appNotFoundRetryable),
            (404, .originalTransactionIdNotFoundRetryable):
            .repeating(.short, history, otherwise: .deferItem(report))
        case (404, .transactionIdNotFound):
            history.mayTryOtherEnvironment ? .tryOtherEnvironment(report) : .failItem(report)
        case (404, _) where answer.errorCode == nil:
            .repeating(.limited(2), history, otherwise: .stopRun(.contractBroken(report)))
        case (404, _):
            .failItem(report.withUnknownCode)

        // A server that is unwell.
        case (500, .generalInternal):
            .repeating(.limited(2), history, otherwise: .deferItem(report))
        case (408, _), (425, _), (500..., _):
            .repeating(.ordinary, history, otherwise: .deferItem(report))

        // Redirections, other successes than 200, and refusals that no documented request can meet.
        default:
            .stopRun(.contractBroken(report))
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

extension HTTPAnswer {
    /// A 401 that a new token did not cure, with the most likely cause where the `Date` header shows it.
    fileprivate func refusal(now: UnixMilliseconds) -> FailureReport {
        var sentence = "Apple refuses a bearer token that was just signed"
        if let skew = clockSkew(now: now), abs(skew.components.seconds) > 300 {
            sentence += "; the local clock is off by \(skew.components.seconds) s"
        }
        return FailureReport(status: status, code: errorCode, message: sentence)
    }

    /// How far this machine's clock is ahead of the server's; `nil` where the `Date` header cannot be believed.
    package func clockSkew(now: UnixMilliseconds) -> Duration? {
        HTTPDate.ofServer(date).map { now - $0 }
    }
}
