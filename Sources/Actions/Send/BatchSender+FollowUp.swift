import ActionKinds
import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import Ledger
import RateLimit
import StrictJSON

extension BatchSender {
    /// Asks for the state of a request that Apple accepted until Apple is done with it.
    ///
    /// That can take days. A process that is stopped leaves the row to the next one, which asks again. If Apple does not tell the
    /// state for ``patience``, Apple's SUMMARY notification tells the outcome; without it the row is left unknown.
    func follow(_ row: LeasedRow) async throws {
        if let list = PublishRetentionMessages.list(of: row.parameters), action == PublishRetentionMessages.self {
            return try await review(row, in: list)
        }
        guard let answer = row.answer, let followUp = action.followUp,
            let request = action.followUpRequest(row.parameters, answer: answer)
        else { throw LedgerError.invariant("\(action.name.rawValue) has no state to ask for") }
        var failingSince: Duration?
        var refusals = 0
        while true {
            let (attempt, result) = try await attempt(row, .status, request, endpoint: followUp.endpoint)
            let state = FollowedState(result, action: action)
            if case .done(let members) = state {
                let (kept, refusal) = (JSONObject(answer.members + members), action.refusal(JSONObject(members)))
                let state: RowState = refusal == nil ? .succeeded : .rejected
                return try await end(row, attempt, result, state, kept: kept, message: refusal)
            }
            refusals = result.refusedToken == nil ? 0 : refusals + 1
            if case .refusedToken(let answer) = state,
                case .endsRun(let report) = decision(on: answer, refusals: refusals)
            {
                try await leave(row, attempt, result, nil)
                throw ActionStop.credentials(report)
            }
            try await keepOpen(row, attempt, result)
            switch state {
            case .done, .atWork: failingSince = nil
            case .waitForApple(let retryAfter, let date):
                let opening = try await limiter(followUp.endpoint).close(retryAfter: retryAfter, date: date)
                report(.closed(followUp.endpoint, opening))
            case .refusedToken(let answer):
                if case .leavesRequest(let report) = decision(on: answer, refusals: refusals) {
                    return try await leaveUnknown(row, "\(report.message). \(followUp.remedy)")
                }
                try await pause(afterRefusal: refusals, of: followUp.endpoint, result)
                continue
            case .notTold(let failure):
                let since = failingSince ?? time.monotonic()
                failingSince = since
                guard time.monotonic() - since >= patience else { break }
                if let summary = try await queue.summary(of: row) {
                    let kept = JSONObject(answer.members + summary.members)
                    let place = "RENEWAL_EXTENSION notification, SUMMARY"
                    return try await end(row, attempt, result, .succeeded, kept: kept, confirmedBy: place)
                }
                let sentence = "Apple does not tell the state of the request. \(failure.sentence) \(followUp.remedy)"
                return try await leaveUnknown(row, sentence)
            }
            try await pause(settleTime)
        }
    }

    /// How long Apple's answers may lack the state of a request: four minutes with Apple's window.
    ///
    /// Right after the request Apple answers 404, too. Apple sends a test notification some seconds later, and so does the
    /// simulator, also with a shorter window.
    private var patience: Duration { max(settleTime * 4, .seconds(5)) }
}

/// What Apple's answer says about a request that Apple works on for longer.
private enum FollowedState {
    /// Apple is done; the members of the answer are kept.
    case done([JSONObject.Member])
    case atWork
    /// Apple answered 429; the values are its raw `Retry-After` and `Date` headers.
    case waitForApple(retryAfter: [String], date: String?)
    case refusedToken(HTTPAnswer)
    case notTold(FailureReport)

    init(_ result: SendResult, action: any AppStoreAction.Type) {
        guard case .answered(let written) = result else {
            self = .notTold(FailureReport(message: result.record.message ?? "No answer"))
            return
        }
        let answer = written.answer
        switch answer.status {
        case 200:
            do throws(RequestFailure) {
                let progress = try action.progress(written.body)
                self = progress.map { FollowedState.done($0.members) } ?? .atWork
            } catch {
                self = .notTold(error.report)
            }
        case 401: self = .refusedToken(answer)
        case 429: self = .waitForApple(retryAfter: answer.retryAfter, date: answer.date)
        default:
            self = .notTold(answer.report)
        }
    }
}
