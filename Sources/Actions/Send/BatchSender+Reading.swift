import AppStoreModel
import Crawl
import JobPlan
import Ledger
import RateLimit
import StrictJSON

/// Requests that only read: how far Apple is with a request, and signed data that shows an effect.
extension BatchSender {
    /// Asks for the state of a request that Apple accepted until Apple is done with it.
    ///
    /// That can take days. A process that is stopped leaves the row to the next one, which asks again. If Apple does not tell the
    /// state several times in a row, Apple's SUMMARY notification tells the outcome; without it the row is left unknown.
    func follow(_ row: LeasedRow) async throws {
        guard let answer = row.answer, let followUp = action.followUp,
            let request = action.followUpRequest(row.parameters, answer: answer)
        else { throw LedgerError.invariant("\(action.name.rawValue) has no state to ask for") }
        var failures = 0
        while true {
            let (attempt, result) = try await read(row, .status, request, endpoint: followUp.endpoint)
            switch progress(in: result) {
            case .done(let members):
                let kept = JSONObject(answer.members + members)
                return try await end(row, attempt, result, .succeeded, kept: kept)
            case .atWork: failures = 0
            case .notTold(let failure):
                failures += 1
                guard failures == RetryBackoff.attemptsPerPage else { break }
                if let summary = try await queue.summary(of: row) {
                    let kept = JSONObject(answer.members + summary.members)
                    let place = "RENEWAL_EXTENSION notification, SUMMARY"
                    return try await end(row, attempt, result, .succeeded, kept: kept, confirmedBy: place)
                }
                try await keepOpen(row, attempt, result)
                let sentence = "Apple does not tell the state of the request. \(failure.sentence) \(followUp.remedy)"
                return try await leaveUnknown(row, sentence)
            }
            try await keepOpen(row, attempt, result)
            try await time.sleep(settleTime)
        }
    }

    /// What Apple says about a request that it works on for longer.
    private enum Progress {
        /// The members of the answer that are kept.
        case done([JSONObject.Member])
        case atWork
        case notTold(FailureReport)
    }

    private func progress(in result: SendResult) -> Progress {
        switch result {
        case .answered(let written) where written.answer.status == 200:
            do throws(RequestFailure) {
                return try action.progress(written.body).map { .done($0.members) } ?? .atWork
            } catch {
                return .notTold(error.report)
            }
        case .answered(let written):
            let answer = written.answer
            return .notTold(
                FailureReport(status: answer.status, code: answer.errorCode, message: answer.message)
            )
        case .failed: return .notTold(FailureReport(message: result.record.message ?? ""))
        }
    }

    /// Reads signed data until it shows the outcome, or leaves the row unknown.
    ///
    /// - Parameters:
    ///   - leased: A row that may have been applied.
    ///   - wasRefused: Whether Apple refused the repeated request. Only then can unchanged data prove that no request was
    ///     applied.
    /// - Throws: As ``read(_:_:_:endpoint:)``.
    func readBack(_ leased: LeasedRow, wasRefused: Bool) async throws {
        var row = leased
        guard let readBack = action.readBack, let subject = action.subject(of: row.parameters) else {
            return try await leaveUnknown(row, "Apple's data does not show the outcome of this action")
        }
        let firstReading = time.monotonic()
        var reading = 1
        while true {
            let id = readBack == .appAccountToken ? row.currentTransactionID(subject) : subject
            let (attempt, result) = try await read(
                row,
                .readBack,
                readBack.request(of: id),
                endpoint: readBack.endpoint
            )
            var failure = "Apple's data could not be read"
            // Data that cannot be verified proves nothing, so it is read again.
            if case .answered(let written) = result, written.answer.status == 200,
                let transactions = try? server.transactions(in: written.body, of: readBack)
            {
                if readBack == .expiresDate, try await queue.hasOtherExtension(subject) { row.expiresDateBefore = nil }
                switch Evidence(of: row, in: transactions, readBack, subject: subject) {
                case .applied(let place):
                    let kept = Evidence.kept(of: row, in: transactions, readBack, subject: subject)
                    return try await end(row, attempt, result, .succeeded, kept: kept, confirmedBy: place)
                case .notApplied(let sentence) where wasRefused && time.monotonic() - firstReading >= settleTime:
                    return try await end(row, attempt, result, .notApplied, message: sentence, confirmedBy: sentence)
                case .notApplied(let sentence), .undecided(let sentence): failure = sentence
                }
            }
            try await keepOpen(row, attempt, result)
            guard reading < RetryBackoff.attemptsPerPage else { return try await leaveUnknown(row, failure) }
            // The last readings are at least one settle time after the first.
            try await time.sleep(settleTime / Double(RetryBackoff.attemptsPerPage - 2))
            reading += 1
        }
    }

    /// Sends a request that only reads: again after a 429, when the limit allows it, and once more with a new token after a 401.
    ///
    /// - Returns: The last attempt and its result, which is not recorded yet.
    /// - Throws: ``ActionStop/credentials(_:)``; otherwise as ``attempt(_:_:_:endpoint:)``.
    private func read(
        _ row: LeasedRow,
        _ purpose: AttemptPurpose,
        _ request: AppStoreRequest,
        endpoint: StreamName
    ) async throws -> (Int32, SendResult) {
        var tokenWasRenewed = false
        while true {
            let (attempt, result) = try await attempt(row, purpose, request, endpoint: endpoint)
            guard case .answered(let written) = result else { return (attempt, result) }
            let answer = written.answer
            switch answer.status {
            case 429:
                try await keepOpen(row, attempt, result)
                let opening = try await limiter(endpoint).close(retryAfter: answer.retryAfter, date: answer.date)
                report(.closed(endpoint, opening))
            case 401 where tokenWasRenewed:
                try await leave(row, attempt, result, nil)
                throw ActionStop.credentials(.refusedToken(code: answer.errorCode))
            case 401:
                try await keepOpen(row, attempt, result)
                server.renewToken()
                tokenWasRenewed = true
            default: return (attempt, result)
            }
        }
    }
}
