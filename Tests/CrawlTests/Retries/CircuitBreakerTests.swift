import AppStoreModel
import Basics
import Crawl
import Streams
import Testing

struct CircuitBreakerTests {
    private var breaker = CircuitBreaker()

    /// Notes pages of one record each.
    private mutating func note(bad: Int = 0, known: Int = 0, good: Int = 0) {
        for _ in 0..<bad {
            breaker.notePage(records: 1, rejected: 1, newReasons: ["signature"], verificationFailures: 1)
        }
        for _ in 0..<known { breaker.notePage(records: 1, rejected: 1, newReasons: [], verificationFailures: 0) }
        for _ in 0..<good { breaker.notePage(records: 1, rejected: 0, newReasons: [], verificationFailures: 0) }
    }

    @Test mutating func `failed signatures that are one in twenty trip it once a thousand records have come`() {
        note(good: 949)
        note(bad: 50)
        #expect(breaker.stopReason == nil)
        note(good: 1)
        #expect(
            breaker.stopReason?.report.message
                == "50 of 1000 signed records failed verification for the first time, which is 1 in 20 or more"
        )
        #expect(breaker.stopReason?.status == .contractBroken)
    }

    @Test mutating func `one failed signature in sixty-six never trips it, in any order`() {
        note(good: 1)
        note(bad: 20)
        note(good: 1_299)
        for _ in 0..<100 {
            note(bad: 1)
            note(good: 65)
        }
        breaker.noteEnd()
        #expect(breaker.stopReason == nil)
    }

    @Test mutating func `a crawl of fewer records is judged at its end`() {
        note(good: 1)
        note(bad: 100)
        #expect(breaker.stopReason == nil)
        breaker.noteEnd()
        #expect(
            breaker.stopReason?.report.message
                == "100 of 101 signed records failed verification for the first time, which is 1 in 20 or more"
        )
        #expect(breaker.stopReason?.status == .contractBroken)
    }

    @Test mutating func `nineteen failed signatures are not many, even if nothing else came`() {
        note(good: 1)
        note(bad: 19)
        breaker.noteEnd()
        #expect(breaker.stopReason == nil)
        note(bad: 1)
        breaker.noteEnd()
        #expect(breaker.stopReason != nil)
    }

    @Test mutating func `records that were rejected before trip it nowhere`() {
        for _ in 1...5 { breaker.notePage(records: 20, rejected: 20, newReasons: [], verificationFailures: 0) }
        note(known: 2_000)
        breaker.noteEnd()
        #expect(breaker.stopReason == nil)
        // And say nothing of the pages that come: here the first of which anything is new.
        for _ in 1...5 { breaker.notePage(records: 2, rejected: 2, newReasons: ["chain"], verificationFailures: 1) }
        #expect(breaker.stopReason?.report.message.hasPrefix("Every record of the first 5 pages") == true)
    }

    @Test mutating func `a run that has stopped for failed signatures before is not stopped for them again`() {
        breaker = CircuitBreaker(stopsForRejects: false)
        note(good: 1)
        note(bad: 2_000)
        breaker.noteEnd()
        #expect(breaker.stopReason == nil)
    }

    @Test mutating func `a run that has stopped for failed signatures before stops when everything fails`() {
        breaker = CircuitBreaker(stopsForRejects: false)
        note(bad: 5)
        #expect(breaker.stopReason != nil)
    }

    @Test mutating func `five first pages rejected for one reason trip it, empty pages aside`() {
        for page in 1...5 {
            #expect(breaker.stopReason == nil)
            breaker.notePage(records: 0, rejected: 0, newReasons: [], verificationFailures: 0)
            breaker.notePage(
                records: page % 2 + 1,
                rejected: page % 2 + 1,
                newReasons: .init(repeating: "encoding", count: page % 2 + 1),
                verificationFailures: 0
            )
        }
        #expect(
            breaker.stopReason?.report.message
                == "Every record of the first 5 pages was rejected for the same reason, encoding"
        )
    }

    @Test(arguments: ["environment": "environment", "app_id": "appAppleId", "bundle": "bundleId"])
    func `five first pages of another app name the key to compare`(reason: String, key: String) {
        var breaker = CircuitBreaker()
        for _ in 1...5 { breaker.notePage(records: 1, rejected: 1, newReasons: [reason], verificationFailures: 0) }
        #expect(
            breaker.stopReason?.report.message.hasSuffix(", \(reason); compare app.\(key) in the job file") == true
        )
    }

    @Test(arguments: [
        (2, ["encoding"]), (1, []), (1, ["nul"]), (2, ["encoding", "nul"]),
    ])
    func `one good record or another reason among the first pages keeps it`(records: Int, rejections: [String]) {
        var breaker = CircuitBreaker()
        for page in 1...9 {
            if page == 3 {
                breaker.notePage(
                    records: records,
                    rejected: rejections.count,
                    newReasons: rejections,
                    verificationFailures: 0
                )
            } else {
                breaker.notePage(records: 1, rejected: 1, newReasons: ["encoding"], verificationFailures: 0)
            }
        }
        #expect(breaker.stopReason == nil)
    }

    @Test mutating func `retries trip it when they are more than half of at least fifty`() {
        for count in 1...49 { breaker.noteRequest(failed: true, at: .seconds(count)) }
        #expect(breaker.stopReason == nil)
        let unreachable = RequestFailure.transport(detail: "Could not resolve host: api.storekit.apple.com").report
        breaker.noteRequest(failed: true, at: .seconds(50), because: unreachable)
        #expect(
            breaker.stopReason?.report.message
                == "50 of the 50 requests of the last 5 minutes returned no page, which is more than half; the last one: No answer: Could not resolve host: api.storekit.apple.com"
        )
    }

    @Test mutating func `half of the requests may end in a retry`() {
        for count in 0..<2_000 { breaker.noteRequest(failed: count % 2 == 1, at: .milliseconds(count * 500)) }
        #expect(breaker.stopReason == nil)
    }

    @Test mutating func `good requests count for five minutes`() {
        for _ in 0..<1_000 { breaker.noteRequest(failed: false, at: .seconds(5)) }
        for count in 0..<60 { breaker.noteRequest(failed: true, at: .seconds(240) + .milliseconds(count)) }
        #expect(breaker.stopReason == nil)
        breaker.noteRequest(failed: true, at: .seconds(300))
        #expect(breaker.stopReason != nil)
    }

    @Test mutating func `fifty-one items with one unknown code trip it`() {
        for _ in 1...50 {
            breaker.noteFailedItem(failure(400, 4_000_099))
            breaker.noteFailedItem(failure(400, 4_000_098))
            breaker.noteFailedItem(failure(400, nil))
            breaker.noteFailedItem(failure(400, 4_000_006))
            breaker.noteFailedItem(failure(404, 4_040_001))
        }
        #expect(breaker.stopReason == nil)
        for _ in 1...10 { breaker.noteFailedItem(failure(400, 4_000_006)) }
        #expect(breaker.stopReason == nil)
        breaker.noteFailedItem(failure(400, 4_000_098))
        #expect(
            breaker.stopReason?.report.message
                == "51 items failed with the same unknown answer, HTTP 400, Apple's code 4000098: What?"
        )
    }

    @Test mutating func `items that a stream without numbered errors fails trip it only without Apple's code`() {
        for _ in 1...100 {
            breaker.noteFailedItem(failure(400, 4_000_000, of: Seats.self))
            breaker.noteFailedItem(failure(404, 4_040_099, of: Seats.self))
        }
        #expect(breaker.stopReason == nil)
        for _ in 1...51 { breaker.noteFailedItem(failure(400, nil, of: Seats.self)) }
        #expect(breaker.stopReason != nil)
    }

    @Test mutating func `the first cause stays`() {
        for _ in 1...51 { breaker.noteFailedItem(failure(400, nil)) }
        let first = breaker.stopReason
        #expect(first != nil)
        for _ in 1...60 { breaker.noteRequest(failed: true, at: .zero) }
        #expect(breaker.stopReason == first)
    }

    private func failure(
        _ status: Int,
        _ code: Int64?,
        of stream: any AppStoreStream.Type = TransactionHistory.self
    ) -> FailureReport {
        let failure = RequestFailure.answered(HTTPAnswer(status: status, errorCode: code, message: "What?"))
        guard
            case .failItem(let report) = failure.disposition(
                after: AttemptHistory(),
                effects: stream.errorEffects,
                hasNumberedErrors: stream.hasNumberedErrors,
                now: UnixMilliseconds(rawValue: 0)
            )
        else {
            Issue.record("\(failure) must fail its item only")
            return failure.report
        }
        return report
    }
}
