import AppStoreModel
import Crawl
import Synchronization
import Testing

/// The limiter itself, with many workers, on a ledger that keeps the rules.
@Suite(.timeLimit(.minutes(1)))
struct LimiterRunTests {
    /// The model behind the limiter's own interface.
    private final class ModelLedger: RateLedger {
        private let ledger: Mutex<SlidingLedger>
        private let time: ManualTime

        init(share: Int, time: ManualTime) {
            ledger = Mutex(SlidingLedger(share: share, window: 3_600, grantLife: 10, flightTime: 30))
            self.time = time
        }

        func take(_ stream: Stream, atMost count: Int) async throws -> RateGrant {
            await Task.yield()
            let now = time.now / .seconds(1)
            return ledger.withLock { ledger in
                let granted = ledger.take(count, at: now)
                return RateGrant(granted: granted, wait: .seconds(ledger.wait(at: now)))
            }
        }

        func close(_ stream: Stream, for wait: Duration) async throws {}
    }

    @Test(arguments: 0..<8)
    func `workers on two processes keep within the share of any hour`(seed: UInt64) async throws {
        let share = 100
        let time = ManualTime(.automatic)
        let ledger = ModelLedger(share: share, time: time)
        let limiters = (0..<2).map { _ in
            RateLimiter(
                stream: .refundHistory,
                terms: LimiterTerms(requestsPerSecond: 1),
                ledger: ledger,
                time: time.timekeeper
            )
        }
        let arrivals = try await withThrowingTaskGroup(of: [Double].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: seed * 8 + UInt64(worker))
                    var arrivals: [Double] = []
                    for _ in 0..<40 {
                        let permit = try await limiters[worker % 2].permit()
                        // The worker may be stopped with the permit in hand.
                        if random.unit() < 0.1 { time.advance(by: .seconds(random.uniform(0..<20))) }
                        let now = time.now
                        guard permit.isValid(at: now) else { continue }
                        arrivals.append(now / .seconds(1) + random.uniform(0..<30))
                    }
                    return arrivals
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(arrivals.count > 200)
        #expect(worstWindow(arrivals, window: 3_600) <= share)
    }
}
