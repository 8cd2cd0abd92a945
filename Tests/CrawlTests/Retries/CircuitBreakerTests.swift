import AppStoreModel
import Crawl
import Testing

struct CircuitBreakerTests {
    private var breaker = CircuitBreaker()

    @Test mutating func `twenty failed signatures trip it once they are one in twenty`() {
        breaker.note(pageOf: 381, verificationFailures: 0, rejections: [])
        for _ in 0..<20 { breaker.note(pageOf: 1, verificationFailures: 1, rejections: ["signature"]) }
        #expect(breaker.tripped == nil)
        breaker.note(pageOf: 1, verificationFailures: 1, rejections: ["signature"])
        #expect(
            breaker.tripped?.report.message == "21 of 402 signed records failed verification; fewer than 1 in 20 may"
        )
        #expect(breaker.tripped?.exitCode == 76)
    }

    @Test mutating func `nineteen failed signatures are not many`() {
        breaker.note(pageOf: 1, verificationFailures: 0, rejections: [])
        for _ in 0..<19 { breaker.note(pageOf: 1, verificationFailures: 1, rejections: ["signature"]) }
        #expect(breaker.tripped == nil)
        breaker.note(pageOf: 1, verificationFailures: 1, rejections: ["signature"])
        #expect(breaker.tripped != nil)
    }

    @Test mutating func `five first pages rejected for one reason trip it, empty pages aside`() {
        for page in 1...5 {
            #expect(breaker.tripped == nil)
            breaker.note(pageOf: 0, verificationFailures: 0, rejections: [])
            breaker.note(
                pageOf: page % 2 + 1,
                verificationFailures: 0,
                rejections: .init(repeating: "encoding", count: page % 2 + 1)
            )
        }
        #expect(
            breaker.tripped?.report.message
                == "Every record of the first 5 pages was rejected for the same reason, encoding"
        )
    }

    @Test(arguments: [
        (2, ["encoding"]), (1, []), (1, ["nul"]), (2, ["encoding", "nul"]),
    ])
    func `one good record or another reason among the first pages keeps it`(records: Int, rejections: [String]) {
        var breaker = CircuitBreaker()
        for page in 1...9 {
            if page == 3 {
                breaker.note(pageOf: records, verificationFailures: 0, rejections: rejections)
            } else {
                breaker.note(pageOf: 1, verificationFailures: 0, rejections: ["encoding"])
            }
        }
        #expect(breaker.tripped == nil)
    }

    @Test mutating func `retries trip it when they are more than half of at least fifty`() {
        for count in 1...49 { breaker.note(requestThatEndedInRetry: true, at: .seconds(count)) }
        #expect(breaker.tripped == nil)
        breaker.note(requestThatEndedInRetry: true, at: .seconds(50))
        #expect(
            breaker.tripped?.report.message
                == "50 of the last 50 requests gave no page; more than half of 5 minutes' may not"
        )
    }

    @Test mutating func `half of the requests may end in a retry`() {
        for count in 0..<2_000 { breaker.note(requestThatEndedInRetry: count % 2 == 1, at: .milliseconds(count * 500)) }
        #expect(breaker.tripped == nil)
    }

    @Test mutating func `good requests count for five minutes`() {
        for _ in 0..<1_000 { breaker.note(requestThatEndedInRetry: false, at: .seconds(5)) }
        for count in 0..<60 { breaker.note(requestThatEndedInRetry: true, at: .seconds(240) + .milliseconds(count)) }
        #expect(breaker.tripped == nil)
        breaker.note(requestThatEndedInRetry: true, at: .seconds(300))
        #expect(breaker.tripped != nil)
    }

    @Test mutating func `fifty-one items with one unknown code trip it`() {
        for _ in 1...50 {
            breaker.note(failedItem: failure(400, 4_000_099))
            breaker.note(failedItem: failure(400, 4_000_098))
            breaker.note(failedItem: failure(400, nil))
            breaker.note(failedItem: failure(400, 4_000_006))
            breaker.note(failedItem: failure(404, 4_040_001))
        }
        #expect(breaker.tripped == nil)
        for _ in 1...10 { breaker.note(failedItem: failure(400, 4_000_006)) }
        #expect(breaker.tripped == nil)
        breaker.note(failedItem: failure(400, 4_000_098))
        #expect(
            breaker.tripped?.report.message
                == "51 items failed with the same unknown answer, HTTP 400, Apple's code 4000098: What?"
        )
    }

    @Test mutating func `the first cause stays`() {
        for _ in 1...51 { breaker.note(failedItem: failure(400, nil)) }
        let first = breaker.tripped
        #expect(first != nil)
        for _ in 1...60 { breaker.note(requestThatEndedInRetry: true, at: .zero) }
        #expect(breaker.tripped == first)
    }

    private func failure(_ status: Int, _ code: Int64?) -> FailureReport {
        let failure = RequestFailure.answered(HTTPAnswer(status: status, errorCode: code, message: "What?"))
        guard
            case .failItem(let report) = failure.disposition(
                after: AttemptHistory(),
                now: UnixMilliseconds(rawValue: 0)
            )
        else {
            Issue.record("\(failure) must fail its item only")
            return failure.report
        }
        return report
    }
}
