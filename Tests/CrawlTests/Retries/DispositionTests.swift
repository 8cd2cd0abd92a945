import AppStoreModel
import Basics
import Crawl
import Streams
import Testing

struct DispositionTests {
    /// Of all streams together; the codes of one stream mean the same for the others.
    private static let effects = AllStreams.types.map { $0.errorEffects }.reduce([:], +)

    private static let now = UnixMilliseconds(rawValue: 1_795_219_200_000)

    /// What a row of the table says, without its report.
    enum Action: Equatable, Sendable {
        case wait, atOnce, repeatRefused, checkKey, empty, restartCursor, shortenWindow, otherEnvironment
        case fail, failUnknown, postpone
        case retry(Retry)
        case stop(Int32)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let status: Int
        let codes: [Int64?]
        let first: Action
        /// Once everything has been tried that may be tried.
        let last: Action

        init(_ status: Int, _ codes: [Int64?], _ first: Action, last: Action? = nil) {
            self.status = status
            self.codes = codes
            self.first = first
            self.last = last ?? first
        }

        var testDescription: String { "\(status) \(codes.map { $0.map(String.init) ?? "-" })" }
    }

    static let table: [Row] = [
        Row(400, [4_000_000, 4_000_006, 4_000_008, 4_000_048, 4_000_227], .fail),
        Row(404, [4_040_001, 4_040_005], .fail), Row(404, [4_040_019], .empty),
        Row(400, [4_000_005, 4_000_014, 4_000_017], .restartCursor, last: .fail),
        Row(400, [4_000_012], .shortenWindow, last: .fail),
        Row(400, [4_000_002], .stop(78)),
        Row(400, [4_000_013, 4_000_015, 4_000_016, 4_000_018, 4_000_019, 4_000_030, 4_000_031], .stop(65)),
        Row(400, [4_000_021, 4_000_022, 4_000_023, 4_000_024, 4_000_025, 4_000_026], .stop(65)),
        Row(400, [nil, 0, -1, .max, 4_000_020, 4_000_027, 4_000_185, 4_290_000], .failUnknown),
        Row(401, [nil, 4_010_000], .repeatRefused, last: .stop(77)),
        Row(403, [nil, 4_030_000], .checkKey, last: .failUnknown),
        Row(404, [4_040_002, 4_040_004, 4_040_006], .retry(.short), last: .postpone),
        Row(404, [4_040_003], .stop(78)),
        Row(404, [4_040_010], .fail),
        Row(404, [nil], .retry(.limited(2)), last: .stop(76)),
        Row(404, [4_040_008, 4_000_006], .failUnknown),
        Row(408, [nil], .retry(.ordinary), last: .postpone),
        Row(425, [nil], .retry(.ordinary), last: .postpone),
        Row(502, [nil], .retry(.ordinary), last: .postpone),
        Row(503, [nil], .retry(.ordinary), last: .postpone),
        Row(504, [nil, 5_000_000], .retry(.ordinary), last: .postpone),
        Row(429, [4_290_000, nil, 4_000_000, 5_000_000], .wait),
        Row(500, [5_000_001, nil], .retry(.ordinary), last: .postpone),
        Row(500, [5_000_000], .retry(.limited(2)), last: .postpone),
        Row(529, [nil], .retry(.ordinary), last: .postpone),
        Row(301, [nil], .stop(76)), Row(302, [nil], .stop(76)), Row(304, [nil], .stop(76)), Row(307, [nil], .stop(76)),
        Row(308, [nil], .stop(76)),
        Row(405, [nil, 4_000_006], .stop(76)), Row(406, [nil], .stop(76)), Row(415, [nil], .stop(76)),
        Row(201, [nil], .stop(76)), Row(204, [nil], .stop(76)), Row(206, [nil], .stop(76)),
        Row(100, [nil], .stop(76)), Row(0, [nil], .stop(76)), Row(410, [nil], .stop(76)), Row(451, [nil], .stop(76)),
    ]

    @Test(arguments: table)
    func `H28 every answer has its action, and waiting wins over every code`(_ row: Row) {
        for code in row.codes {
            var answer = HTTPAnswer(
                status: row.status,
                errorCode: code,
                message: "As the row says.",
                retryAfter: ["120"]
            )
            expect(.answered(answer), row.first, after: AttemptHistory(), code: code)
            answer.refusals = TokenRefusals(duration: .seconds(60))
            expect(.answered(answer), row.last, after: Self.exhausted, code: code)
        }
    }

    @Test(arguments: [
        (RequestFailure.transport(detail: "connection reset"), Action.retry(.ordinary), Action.postpone),
        (.keptConnectionLost(detail: "H41"), .atOnce, .postpone),
        (.tls(detail: "certificate expired"), .stop(76), .stop(76)),
        (.badPage(reason: "no hasMore"), .retry(.limited(2)), .fail),
    ])
    func `what is no HTTP answer has its action too`(failure: RequestFailure, first: Action, last: Action) {
        expect(failure, first, after: AttemptHistory(), code: nil)
        expect(failure, last, after: Self.exhausted, code: nil)
    }

    @Test(arguments: [(Retry.ordinary, 5), (.short, 5), (.limited(2), 3)])
    func `a page is requested as often as its retry allows`(retry: Retry, attempts: Int) {
        #expect(retry.attempts == attempts)
        let failure: RequestFailure =
            switch retry {
            case .ordinary: .transport(detail: "")
            case .short: .answered(HTTPAnswer(status: 404, errorCode: 4_040_002, message: ""))
            case .limited: .badPage(reason: "")
            }
        var history = AttemptHistory()
        while failure.disposition(after: history, effects: Self.effects, now: Self.now) == .retry(retry) {
            history.attempts += 1
        }
        #expect(history.attempts == attempts)
    }

    @Test func `an ID unknown in production goes on in the sandbox where the job allows it`() {
        let failure = RequestFailure.answered(HTTPAnswer(status: 404, errorCode: 4_040_010, message: "Not found."))
        var history = AttemptHistory()
        history.mayTryOtherEnvironment = true
        #expect(
            failure.disposition(after: history, effects: Self.effects, now: Self.now)
                == .tryOtherEnvironment(failure.report)
        )
    }

    @Test(arguments: [(400, 4_000_000), (400, 4_000_999), (404, 4_040_999)] as [(Int, Int64)])
    func `a code of a stream whose errors Apple does not number fails its item, and is not unknown`(
        status: Int,
        code: Int64
    ) {
        let failure = RequestFailure.answered(HTTPAnswer(status: status, errorCode: code, message: "NoAvailableSeats"))
        func found(hasNumberedErrors: Bool) -> Disposition {
            failure.disposition(
                after: AttemptHistory(),
                effects: Seats.errorEffects,
                hasNumberedErrors: hasNumberedErrors,
                now: Self.now
            )
        }
        #expect(found(hasNumberedErrors: Seats.hasNumberedErrors) == .failItem(failure.report))
        #expect(found(hasNumberedErrors: true) != .failItem(failure.report))
    }

    @Test func `an answer without Apple's code is unknown also to a stream whose errors Apple does not number`() {
        let failure = RequestFailure.answered(HTTPAnswer(status: 400, errorCode: nil, message: "Bad request"))
        let found = failure.disposition(
            after: AttemptHistory(),
            effects: Seats.errorEffects,
            hasNumberedErrors: false,
            now: Self.now
        )
        var isUnknown = false
        if case .failItem(let report) = found { isUnknown = report.isUnknownCode }
        #expect(isUnknown, "\(found)")
    }

    @Test func `a 429 hands on its headers unread`() {
        let failure = RequestFailure.answered(
            HTTPAnswer(status: 429, errorCode: nil, message: "", retryAfter: ["soon", "1795219205000"])
        )
        #expect(
            failure.disposition(after: AttemptHistory(), effects: Self.effects, now: Self.now)
                == .waitThenRepeat(retryAfter: ["soon", "1795219205000"], date: nil)
        )
    }

    @Test(arguments: [
        ("Fri, 20 Nov 2026 23:50:00 GMT", "; the local clock is off by 600 s"),
        ("Sat, 21 Nov 2026 01:00:00 GMT", "; the local clock is off by -3600 s"),
        ("Fri, 20 Nov 2026 23:55:00 GMT", ""),
        ("Thu, 01 Jan 1970 00:00:00 GMT", ""),
        ("noon", ""),
        (nil, ""),
    ])
    func `a refused key names a wrong clock where the answer shows one`(date: String?, hint: String) {
        var answer = HTTPAnswer(status: 401, errorCode: nil, message: "", date: date)
        answer.refusals = TokenRefusals(duration: .seconds(61))
        #expect(
            RequestFailure.answered(answer).disposition(after: Self.exhausted, effects: Self.effects, now: Self.now)
                == .stopRun(
                    .credentials(
                        FailureReport(
                            status: 401,
                            message: "Apple refuses the key: nothing but 401 for 61 s" + hint
                        )
                    )
                )
        )
    }

    @Test func `a report names status, code and message, and a stop reason the remedy`() {
        let failure = RequestFailure.answered(
            HTTPAnswer(status: 400, errorCode: 4_000_015, message: "Invalid start date")
        )
        #expect(failure.report.description == "HTTP 400, Apple's code 4000015: Invalid start date")
        #expect(
            StopReason.badJob(failure.report).description
                == "HTTP 400, Apple's code 4000015: Invalid start date. Correct the stream's parameters in the job file."
        )
        #expect(FailureReport(status: 503, message: "busy").description == "HTTP 503: busy")
        #expect(RequestFailure.transport(detail: "reset").report.description == "No answer: reset")
        for reason in [StopReason.contractBroken, StopReason.credentials, StopReason.configuration] {
            #expect(reason(failure.report).description.hasPrefix("\(failure.report). "))
        }
    }

    private static var exhausted: AttemptHistory {
        var history = AttemptHistory()
        history.attempts = 5
        history.keyWasAccepted = true
        history.keptConnectionWasLost = true
        history.hasUsedUpRestarts = true
        return history
    }

    private func expect(_ failure: RequestFailure, _ action: Action, after history: AttemptHistory, code: Int64?) {
        let report: FailureReport?
        let found: Action
        switch failure.disposition(after: history, effects: Self.effects, now: Self.now) {
        case .waitThenRepeat: (found, report) = (.wait, nil)
        case .retry(let retry): (found, report) = (.retry(retry), nil)
        case .repeatAtOnce: (found, report) = (.atOnce, nil)
        case .repeatRefused: (found, report) = (.repeatRefused, nil)
        case .emptyAnswer: (found, report) = (.empty, nil)
        case .checkKey(let reason): (found, report) = (.checkKey, reason.report)
        case .restartCursor(let said): (found, report) = (.restartCursor, said)
        case .shortenWindow(let said): (found, report) = (.shortenWindow, said)
        case .tryOtherEnvironment(let said): (found, report) = (.otherEnvironment, said)
        case .deferItem(let said): (found, report) = (.postpone, said)
        case .failItem(let said): (found, report) = (said.isUnknownCode ? .failUnknown : .fail, said)
        case .stopRun(let reason): (found, report) = (.stop(reason.status.rawValue), reason.report)
        }
        #expect(found == action, "code \(code.map(String.init) ?? "none")")
        if let report { #expect(report.code == code) }
    }
}
