import Testing

@testable import Crawl

/// Four hours of one to eight workers that are slow, stopped, killed and kept waiting by their database.
///
/// The workers hold what they are granted in the limiter's own ``HeldUnits``; only the ledger is a model.
struct RollingWindowTests {
    private static let share = 360
    private static let window = 3_600.0
    private static let grantLife = 10.0
    private static let flightTime = 30.0

    @Test(arguments: 0..<10)
    func `no rolling hour sees more arrivals than the share, whatever workers do`(block: Int) {
        for seed in (block * 20)..<(block * 20 + 20) {
            let arrivals = Self.arrivals(seed: UInt64(seed), mutant: nil)
            let worst = worstWindow(arrivals, window: Self.window)
            #expect(worst <= Self.share, "seed \(seed)")
        }
    }

    @Test func `most of the share is used when there is work for all of it`() {
        let sent = (0..<10).map { Self.arrivals(seed: UInt64($0 * 4), mutant: nil).count }
        // Seeds divisible by four are greedy; large blocks of slow workers are burned by design.
        #expect(sent.allSatisfy { $0 > 4 * Self.share * 7 / 10 }, "\(sent)")
    }

    @Test(arguments: SlidingLedger.Mutant.allCases)
    func `each mistake in the rules is caught`(mutant: SlidingLedger.Mutant) {
        let caught = (0..<300).contains { seed in
            worstWindow(Self.arrivals(seed: UInt64(seed), mutant: mutant), window: Self.window) > Self.share
        }
        #expect(caught)
    }

    @Test func `the worst window is counted exactly`() {
        #expect(worstWindow([], window: 10) == 0)
        #expect(worstWindow([0, 10], window: 10) == 1)
        #expect(worstWindow([0, 9.9, 3, 12], window: 10) == 3)
    }

    private struct Worker {
        let block: Int
        /// When it next asks the ledger.
        var asks: Double
    }

    private static func arrivals(seed: UInt64, mutant: SlidingLedger.Mutant?) -> [Double] {
        var random = SplitMix64(seed: seed)
        let newLedger = {
            SlidingLedger(share: share, window: window, grantLife: grantLife, flightTime: flightTime, mutant: mutant)
        }
        var ledger = newLedger()
        var workers = (0..<Int.random(in: 1...8, using: &random)).map { _ in
            Worker(block: .random(in: 1...50, using: &random), asks: random.uniform(0..<5))
        }
        var arrivals: [Double] = []
        // Whoever reaches the ledger first is served first.
        while let next = workers.indices.min(by: { workers[$0].asks < workers[$1].asks }),
            workers[next].asks < 4 * window
        {
            // 0.2% of takes follow a restart.
            if mutant == .lostOnRestart, random.unit() < 0.002 { ledger = newLedger() }
            let taken = workers[next].asks
            // The stamp is from before asking, and the answer may be late.
            let asked = taken - answerTime(&random)
            let answered = taken + answerTime(&random)
            let granted = ledger.take(workers[next].block, at: taken)
            var worker = SendingWorker(now: answered)
            worker.send(
                HeldUnits(
                    count: granted,
                    asked: .seconds(asked),
                    life: .seconds(mutant == .grantsNeverExpire ? 1e9 : grantLife)
                ),
                &random
            )
            arrivals += worker.arrivals
            let rest = granted == 0 ? ledger.wait(at: worker.now) * random.uniform(0.3..<1) + random.uniform(0..<5) : 0
            workers[next].asks = demand(seed, from: worker.now + rest, &random) + answerTime(&random)
        }
        return arrivals
    }

    /// Half the time of a round trip: mostly 50 ms in all, seldom longer than a grant lives.
    private static func answerTime(_ random: inout SplitMix64) -> Double {
        random.unit() < 0.98 ? random.uniform(0..<0.05) : random.uniform(0..<0.75 * grantLife)
    }

    /// When a worker next has something to ask for: greedy, in bursts, around full hours, or idle for long and then busy.
    private static func demand(_ seed: UInt64, from now: Double, _ random: inout SplitMix64) -> Double {
        switch seed % 4 {
        case 1: random.unit() < 0.05 ? now + random.uniform(0..<600) : now
        case 2:
            switch now.truncatingRemainder(dividingBy: window) {
            case 120..<(window - 120): (now / window).rounded(.up) * window - 120
            default: now
            }
        case 3: random.unit() < 0.01 ? now + random.uniform(0..<2 * window) : now
        default: now
        }
    }

    private struct SendingWorker {
        var now: Double
        var arrivals: [Double] = []

        mutating func send(_ granted: HeldUnits, _ random: inout SplitMix64) {
            var units = granted
            while units.count > 0 {
                now += random.uniform(0..<0.2)
                // Slow.
                if random.unit() < 0.03 { now += random.uniform(0..<RollingWindowTests.grantLife) }
                // Stopped, or its machine suspended.
                if random.unit() < 0.004 { now += random.uniform(RollingWindowTests.grantLife..<900) }
                guard units.take(at: .seconds(now)) else { return }
                arrivals.append(now + random.uniform(0..<RollingWindowTests.flightTime))
                // Killed; the next process begins with nothing in hand.
                if random.unit() < 0.001 { return }
            }
        }
    }
}
