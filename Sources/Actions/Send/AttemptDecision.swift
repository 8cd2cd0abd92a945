import ActionKinds
import AppStoreAPI
import AppStoreModel
import Crawl
import StrictJSON

/// What follows from one attempt to send a row.
enum AttemptDecision {
    /// Apple did what was asked, and the answer is the outcome.
    case succeeded(JSONObject)
    /// Apple refused the only request that was sent.
    case rejected(FailureReport)
    /// Apple refused with a list of errors, which also says that it has applied no earlier request of the row.
    case refused(ListedErrors)
    /// An earlier request may have been applied, and only Apple's data can show whether one was, so it is read.
    ///
    /// `isRefused` says whether Apple refused this attempt. Only then does unchanged data prove that no request was applied.
    case readBack(JSONObject?, isRefused: Bool)
    /// Apple answered 429; the values are its raw `Retry-After` and `Date` headers.
    case waitForApple(retryAfter: [String], date: String?)
    /// Apple answered 401, so it did nothing: the request is sent again after ``Crawl/KeyPatience/pause(afterRefusal:random:)``.
    case repeatRefused
    /// Apple refuses the key for this request only: the row is left to the next run.
    case leave(FailureReport)
    /// Nothing was sent, or Apple asks to send the request again.
    case retry(Retry, FailureReport)
    /// The permit expired before there was a connection.
    case retryAtOnce
    /// The request may have been applied.
    case outcomeUnknown(FailureReport)
    case stop(ActionStop)
}

/// The result of sending one request.
enum SendResult {
    case answered(WriteAnswer)
    case failed(WriteFailure)
}

extension AttemptDecision {
    /// Decides what follows from an attempt; all such decisions are made here.
    ///
    /// - Parameters:
    ///   - result: Apple's answer, or why there is none.
    ///   - mayBeApplied: Whether an earlier request of the row may have been applied.
    ///   - refusal: What follows from a 401.
    ///   - action: What was sent.
    ///   - row: The values of the row.
    init(
        _ result: SendResult,
        mayBeApplied: Bool,
        refusal: (HTTPAnswer) -> KeyPatience.Decision,
        action: any AppStoreAction.Type,
        row: ActionParameters = ActionParameters()
    ) {
        switch result {
        case .failed(.notSent(let detail)): self = .retry(.ordinary, FailureReport(message: "Not sent: \(detail)"))
        case .failed(.tooLate): self = .retryAtOnce
        case .failed(.tls(let detail)):
            self = .stop(.contractBroken(FailureReport(message: "The server cannot be trusted: \(detail)")))
        case .failed(.lost(let detail)): self = .outcomeUnknown(FailureReport(message: "No answer: \(detail)"))
        case .answered(let written):
            let answer = written.answer
            let report = answer.report
            switch answer.status {
            case 200, 202, 204:
                self = Self.success(written.body, report, mayBeApplied: mayBeApplied, action: action)
            case 429: self = .waitForApple(retryAfter: answer.retryAfter, date: answer.date)
            case 401:
                switch refusal(answer) {
                case .repeats: self = .repeatRefused
                case .leavesRequest(let report): self = .leave(report)
                case .endsRun(let report): self = .stop(.credentials(report))
                }
            case 500...: self = .outcomeUnknown(report)
            default:
                let listed = answer.status == 400 ? action.listedErrors(written.body) : nil
                self =
                    listed.map { Self.refusal($0, report, mayBeApplied: mayBeApplied) }
                    ?? Self.refusal(answer, report, mayBeApplied: mayBeApplied, action: action, row: row)
            }
        }
    }

    private static func success(
        _ body: [UInt8],
        _ report: FailureReport,
        mayBeApplied: Bool,
        action: any AppStoreAction.Type
    ) -> AttemptDecision {
        do throws(RequestFailure) {
            switch try action.outcome(body) {
            case .succeeded(let kept):
                return mayBeApplied && !action.repeatSettles ? .readBack(kept, isRefused: false) : .succeeded(kept)
            case .refused(let message):
                let refusal = FailureReport(status: report.status, message: message)
                return mayBeApplied ? .readBack(nil, isRefused: true) : .rejected(refusal)
            }
        } catch {
            // A success whose body cannot be read: Apple has probably applied the request.
            return .outcomeUnknown(error.report)
        }
    }

    private static func refusal(
        _ errors: ListedErrors,
        _ report: FailureReport,
        mayBeApplied: Bool
    ) -> AttemptDecision {
        switch errors.effect {
        case .isRepeated: .readBack(nil, isRefused: false)
        case .mayBeRepeated where mayBeApplied: .readBack(nil, isRefused: true)
        case .retriesSoon: .retry(.short, report)
        case .rejectsRow, .mayBeRepeated: .refused(errors)
        }
    }

    private static func refusal(
        _ answer: HTTPAnswer,
        _ report: FailureReport,
        mayBeApplied: Bool,
        action: any AppStoreAction.Type,
        row: ActionParameters
    ) -> AttemptDecision {
        guard let code = answer.errorCode else {
            // Of Apple's refusals only a refused key (403) has no code. For any other, another server may have answered.
            return .stop(answer.status == 403 ? .credentials(report) : .contractBroken(report))
        }
        // A known code with a status that Apple does not document for it counts as unknown.
        let known = AppleErrorCode(rawValue: code).flatMap { $0.status == answer.status ? $0 : nil }
        switch known.map({ action.effect(of: $0, on: row) }) ?? .rejectsRow {
        case .rejectsRow: return mayBeApplied ? .readBack(nil, isRefused: true) : .rejected(report)
        case .isRepeated: return .readBack(nil, isRefused: false)
        case .provesEarlierRequest:
            return mayBeApplied ? success([], report, mayBeApplied: false, action: action) : .rejected(report)
        case .retriesSoon: return .retry(.short, report)
        case .stopsForOtherApp: return .stop(.otherApp(report))
        }
    }
}
