import FoundationEssentials
import TestSupport
import Testing

@testable import RateLimit

/// The limiter's promises, kept by the limiter itself in whole fleets of processes (R1, R2, R4 to R6).
@Suite(.slow)
struct FleetTests {
    /// `STORELEDGER_SEEDS=10000 scripts/test --filter FleetTests` tries more than a commit's worth.
    private static let seeds = ProcessInfo.processInfo.environment["STORELEDGER_SEEDS"].flatMap(Int.init) ?? 200
    private static let share = 360

    /// Fleets that rest for so long before their ledger's clock is set back that only the processes can see it.
    @Test(arguments: [976, 1_778, 2_895] as [UInt64])
    func `CK4 R4: a clock that is set back between requests and then corrected grants no extra requests`(seed: UInt64)
        async throws
    {
        #expect(try await Fleet.worstHour(seed: seed) <= Self.share)
    }

    @Test(arguments: 0..<4)
    func `no rolling hour sees more arrivals than the share, despite failures of workers, ledger and clock (R1 R2 R4)`(
        part: Int
    ) async throws {
        var arrivals = 0
        var worst = 0
        for seed in stride(from: part, to: Self.seeds, by: 4) {
            let moments = try await Fleet.arrivals(seed: UInt64(seed)).map(\.at)
            let window = worstWindow(moments, window: Fleet.window)
            #expect(window <= Self.share, "seed \(seed)")
            arrivals += moments.count
            worst = max(worst, window)
        }
        print("every 4th of \(Self.seeds) seeds: \(arrivals) arrivals, worst window \(worst) of \(Self.share)")
        // A fleet that sends nothing keeps every limit.
        #expect(arrivals > Self.seeds / 4 * Self.share)
    }

    @Test func `CK5 R4 a ledger whose clock is set forward by hours grants no running process more than the share`()
        async throws
    {
        for seed in 0..<10 as Range<UInt64> {
            let step = 3_600 + Double(seed) * 300
            let plan = Fleet.Plan(hasFaults: false, isPaced: true, setForward: step)
            let moments = try await Fleet.arrivals(seed: seed * 4, plan).map(\.at)
            #expect(worstWindow(moments, window: Fleet.window) <= Self.share, "seed \(seed)")
            #expect(moments.contains { $0 > step - 60 }, "seed \(seed)")
            #expect(!moments.contains { $0 > step + 30 }, "seed \(seed)")
        }
    }

    @Test(arguments: SlidingLedger.Mutant.allCases)
    func `each mistake in the ledger's rules is caught`(mutant: SlidingLedger.Mutant) async throws {
        try await expectCaught(Fleet.Plan(ledger: mutant), "\(mutant)")
    }

    @Test(arguments: Fleet.Mutant.allCases)
    func `each mistake in the use of a grant is caught`(mutant: Fleet.Mutant) async throws {
        try await expectCaught(Fleet.Plan(mutant: mutant), "\(mutant)")
    }

    /// Expects one of a commit's seeds to go beyond the share.
    private func expectCaught(_ plan: Fleet.Plan, _ name: String) async throws {
        for seed in 0..<400 where try await Fleet.worstHour(seed: UInt64(seed), plan) > Self.share {
            print("mutant \(name): caught by seed \(seed)")
            return
        }
        Issue.record("\(name) goes unnoticed")
    }

    @Test(arguments: [1, 2, 8])
    func `busy processes get their part, together nearly all of the share, and never more in a second (R5 R6)`(
        processes: Int
    ) async throws {
        let share = 1_200
        let plan = Fleet.Plan(share: share, hours: 3.5, hasFaults: false, isPaced: true, processes: processes)
        let arrivals = try await Fleet.arrivals(seed: 4, plan)
        #expect(worstWindow(arrivals.map(\.at), window: Fleet.window) <= share)
        for start in stride(from: 60.0, to: 1.4 * Fleet.window, by: 60) {
            let twoHours = arrivals.count { (start..<start + 2 * Fleet.window).contains($0.at) }
            #expect(Double(twoHours) >= 0.97 * 2 * Double(share), "from \(start)")
        }
        for start in stride(from: 60.0, to: 3 * Fleet.window, by: 600) {
            let tenMinutes = arrivals.filter { (start..<start + 600).contains($0.at) }
            for process in 0..<processes {
                let own = tenMinutes.count { $0.process == process }
                #expect(own >= tenMinutes.count / (2 * processes), "process \(process) from \(start)")
            }
        }
    }

    @Test func `a ledger that was idle for hours allows no more than its pace at once (R6)`() {
        var ledger = SlidingLedger(share: 36_000, window: 3_600, grantLife: 10, flightTime: 30, isPaced: true)
        var granted = 0
        for millisecond in 0..<1_000 { granted += ledger.take(25, at: 50_000 + Double(millisecond) / 1_000).granted }
        // Ten a second, and what a fifth of a second saves up.
        #expect((10...13).contains(granted))
    }

    @Test func `the worst window is counted exactly`() {
        #expect(worstWindow([], window: 10) == 0)
        #expect(worstWindow([0, 10], window: 10) == 1)
        #expect(worstWindow([0, 9.9, 3, 12], window: 10) == 3)
    }
}
