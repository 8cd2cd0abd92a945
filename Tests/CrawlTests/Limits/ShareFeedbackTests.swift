import Crawl
import Testing

struct ShareFeedbackTests {
    private var feedback = ShareFeedback()

    @Test mutating func `every 429 halves the share, down to a twentieth`() {
        #expect(feedback.factor(at: .seconds(1_000_000)) == 1)
        for (index, factor) in [0.5, 0.25, 0.125, 0.0625, 0.05, 0.05].enumerated() {
            feedback.rateLimited(at: .seconds(index))
            #expect(feedback.factor(at: .seconds(index)) == factor)
        }
    }

    @Test mutating func `ten quiet minutes give a twentieth back`() {
        feedback.rateLimited(at: .seconds(100))
        #expect(feedback.factor(at: .seconds(699.9)) == 0.5)
        #expect(feedback.factor(at: .seconds(700)) == 0.55)
        #expect(abs(feedback.factor(at: .seconds(100 + 9 * 600)) - 0.95) < 1e-9)
        #expect(feedback.factor(at: .seconds(100 + 10 * 600)) == 1)
        #expect(feedback.factor(at: .seconds(1_000_000)) == 1)
        // Regained ground is halved with the rest.
        feedback.rateLimited(at: .seconds(1_300))
        #expect(abs(feedback.factor(at: .seconds(1_300)) - 0.3) < 1e-9)
    }

    @Test(arguments: 0..<50)
    mutating func `the share stays between a twentieth and all of it`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var now = 0.0
        for _ in 0..<200 {
            now += random.uniform(0..<3_000)
            if random.unit() < 0.5 { feedback.rateLimited(at: .seconds(now)) }
            #expect((0.05...1).contains(feedback.factor(at: .seconds(now + random.uniform(0..<9_000)))))
        }
    }
}
