import Crawl
import Testing

struct RetryBackoffTests {
    @Test(arguments: [
        (RetryBackoff.ordinary, [0.5, 1, 2, 4, 8, 16, 20, 20]),
        (.short, [0.5, 1, 2, 2, 2, 2, 2, 2]),
    ])
    func `the span doubles up to its cap`(backoff: RetryBackoff, spans: [Double]) {
        for (index, span) in spans.enumerated() {
            #expect(backoff.delay(afterAttempt: index + 1, random: 0.5) == .seconds(span / 2))
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1, 2, 5, 50, Int.max])
    func `chance makes neither a busy loop nor an endless wait`(attempt: Int) {
        for backoff in [RetryBackoff.ordinary, .short] {
            #expect(backoff.delay(afterAttempt: attempt, random: 0) == RetryBackoff.floor)
            #expect(backoff.delay(afterAttempt: attempt, random: 0.999_999) < .seconds(20))
        }
    }

    @Test(arguments: [(Retry.ordinary, RetryBackoff.ordinary), (.limited(2), .ordinary), (.short, .short)])
    func `only what Apple calls short waits shortly`(retry: Retry, backoff: RetryBackoff) {
        #expect(retry.backoff == backoff)
    }
}
