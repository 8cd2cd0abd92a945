import Crawl
import TestSupport
import Testing

struct RetryQuotaTests {
    @Test(arguments: 0..<100)
    func `the quota never leaves 0 to 500`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var quota = RetryQuota()
        let failureRate = random.unit()
        for _ in 0..<2_000 {
            let before = quota.remaining
            if random.unit() >= failureRate {
                quota.succeeded()
                #expect(quota.remaining == min(500, before + 1))
            } else {
                let isPaid = quota.payForRetry()
                #expect(isPaid == (before >= RetryQuota.cost))
                #expect(quota.remaining == (isPaid ? before - RetryQuota.cost : before))
            }
            #expect((0...RetryQuota.capacity).contains(quota.remaining))
        }
    }

    @Test(arguments: [
        (faults: 1.0, pages: 1_000, atMost: 1.1),
        (faults: 1.0, pages: 10_000, atMost: 1.01),
        (faults: 0.1, pages: 10_000, atMost: 1.12),
    ])
    func `H15 retries do not make an outage worse`(faults: Double, pages: Int, atMost: Double) {
        var random = SeededRandom(seed: 20_261_121)
        var quota = RetryQuota()
        var requests = 0
        for _ in 0..<pages {
            for attempt in 1...RetryBackoff.attemptsPerPage {
                requests += 1
                if random.unit() >= faults {
                    quota.succeeded()
                    break
                }
                guard attempt < RetryBackoff.attemptsPerPage, quota.payForRetry() else { break }
            }
        }
        #expect(Double(requests) / Double(pages) <= atMost)
    }

    @Test func `one fault in ten is always retried`() {
        var quota = RetryQuota()
        for _ in 0..<1_000 {
            for _ in 0..<9 { quota.succeeded() }
            let isPaid = quota.payForRetry()
            #expect(isPaid)
        }
        #expect(quota.remaining == 495)
    }

    @Test func `workers share one quota`() async {
        let quota = SharedRetryQuota()
        let paid = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<100).count { _ in quota.payForRetry() } }
            }
            return await group.reduce(0, +)
        }
        #expect(paid == 100)
        #expect(quota.remaining == 0)
        quota.succeeded()
        #expect(quota.remaining == 1)
    }
}
