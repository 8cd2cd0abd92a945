import AppStoreModel
import Basics
import RateLimit
import Streams
import Synchronization
import TestSupport

/// Hours of one to eight processes, each with the real ``RateLimit/RateLimiter``, on one ledger; only time and the ledger are
/// models.
///
/// A seed decides everything: how many processes there are, when they have work, how slow they are, when they are stopped,
/// killed or kept waiting by their database, and how its clock is set. One process moves at a time, so a seed repeats.
final class Fleet: Sendable {
    /// Mistakes of a process that the ledger cannot make good.
    enum Mutant: CaseIterable, Sendable {
        /// Units are used however old they are.
        case grantsNeverExpire
        /// The request is sent as soon as there is a connection.
        case departureNotLookedAt
        /// The permit's time is checked neither then nor before.
        case permitNotLookedAt
    }

    struct Plan: Sendable {
        var share = 360
        var hours = 2.25
        var hasFaults = true
        var isPaced = false
        /// When the ledger's clock is set forward by two hours, in seconds.
        var setForward: Double?
        var processes: Int?
        var ledger: SlidingLedger.Mutant?
        var mutant: Mutant?
    }

    struct Arrival: Sendable {
        let at: Double
        let process: Int
    }

    static let window = 3_600.0
    private static let grantLife = 10.0
    private static let flightTime = 30.0

    private let seed: UInt64
    private let plan: Plan
    private let end: Double
    private let time = ManualTime()
    private let ledger: FleetLedger
    private let arrivals = Mutex<[Arrival]>([])

    /// Runs a fleet to its end.
    static func arrivals(seed: UInt64, _ plan: Plan = Plan()) async throws -> [Arrival] {
        try await Fleet(seed: seed, plan).run()
    }

    /// The most that any hour of the seed sees.
    static func worstHour(seed: UInt64, _ plan: Plan = Plan()) async throws -> Int {
        worstWindow(try await arrivals(seed: seed, plan).map(\.at), window: window)
    }

    private init(seed: UInt64, _ plan: Plan) {
        self.seed = seed
        self.plan = plan
        end = plan.hours * Self.window
        let rules = SlidingLedger(
            share: plan.share,
            window: Self.window,
            grantLife: Self.grantLife,
            flightTime: Self.flightTime,
            isPaced: plan.isPaced,
            mutant: plan.ledger
        )
        ledger = FleetLedger(rules, seed: seed, plan, time)
    }

    private func run() async throws -> [Arrival] {
        var random = SeededRandom(seed: seed)
        let processes = plan.processes ?? Int.random(in: 1...8, using: &random)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for process in 0..<processes { group.addTask { try await self.run(process) } }
            // Each process sleeps in one place at a time: at work, or in the limiter or the ledger on its behalf.
            while time.now < .seconds(end) {
                await time.untilAsleep(processes)
                time.advanceToNextDeadline()
            }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        return arrivals.withLock(\.self)
    }

    private func run(_ process: Int) async throws {
        var random = SeededRandom(seed: seed &* 1_000 &+ UInt64(process))
        let block = plan.hasFaults ? Int.random(in: 1...50, using: &random) : 25
        var limiter = makeLimiter(block: block)
        try await sleep(random.uniform(0..<5))
        while true {
            let permit: Permit
            do {
                permit = try await limiter.permit()
            } catch is ClockDisagreement {
                // Stopped until it is started again.
                return try await sleep(1e9)
            }
            try await dawdle(&random)
            guard plan.mutant == .permitNotLookedAt || permit.isValid(at: time.now) else { continue }
            if plan.hasFaults, random.unit() < 0.003 { try await sleep(random.uniform(0..<900)) }
            guard
                plan.mutant == .departureNotLookedAt || plan.mutant == .permitNotLookedAt
                    || time.now <= permit.departsBy
            else { continue }
            let flight = random.uniform(0..<Self.flightTime / 2)
            arrivals.withLock { $0.append(Arrival(at: time.now / .seconds(1) + flight, process: process)) }
            // A page whose date the ledger's clock cannot explain is not stored, but its request has been sent.
            guard (try? await limiter.agrees(with: Self.date(time.now), sent: time.now)) != nil else {
                return try await sleep(1e9)
            }
            guard plan.hasFaults else { continue }
            // Killed; the next process begins with nothing in hand.
            if random.unit() < 0.002 { limiter = makeLimiter(block: block) }
            try await rest(&random)
        }
    }

    /// What the store's clock, which is right, says in its answers.
    private static func date(_ now: Duration) -> String {
        let parts = [now.components.seconds / 3_600, now.components.seconds / 60 % 60, now.components.seconds % 60]
        let clock = parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        return "Sun, 22 Nov 2026 \(clock) GMT"
    }

    private func makeLimiter(block: Int) -> RateLimiter {
        // A fiftieth of the rate is the least block.
        let rate = Double(block * 50)
        let window = RateWindow(length: .seconds(plan.mutant == .grantsNeverExpire ? 1e7 : Self.window))
        let terms = LimiterTerms(requestsPerSecond: rate, window: window)
        return RateLimiter(stream: .refundHistory, terms: terms, ledger: ledger, time: time.timekeeper)
    }

    /// What passes between two steps of a process: mostly little; now and then it is slow, or stopped for minutes.
    private func dawdle(_ random: inout SeededRandom) async throws {
        var seconds = random.uniform(0..<0.1)
        if plan.hasFaults {
            if random.unit() < 0.03 { seconds += random.uniform(0..<Self.grantLife) }
            if random.unit() < 0.004 { seconds += random.uniform(Self.grantLife..<900) }
        }
        try await sleep(seconds)
    }

    /// Until there is work again: greedy, in bursts, around full hours, or idle for long and then busy.
    private func rest(_ random: inout SeededRandom) async throws {
        let now = time.now / .seconds(1)
        switch seed % 4 {
        case 1: if random.unit() < 0.05 { try await sleep(random.uniform(0..<600)) }
        case 2:
            if case 120..<(Self.window - 120) = now.truncatingRemainder(dividingBy: Self.window) {
                try await sleep((now / Self.window).rounded(.up) * Self.window - 120 - now)
            }
        case 3: if random.unit() < 0.01 { try await sleep(random.uniform(0..<2 * Self.window)) }
        default: break
        }
    }

    private func sleep(_ seconds: Double) async throws {
        try await time.timekeeper.sleep(.seconds(seconds))
    }
}

/// A ledger that is some way off: every call takes its time, before and after it is counted, and its clock may be set.
private final class FleetLedger: RateLedger {
    /// Sun, 22 Nov 2026 00:00:00 GMT, at second 0.
    private static let midnight = UnixMilliseconds(rawValue: 1_795_305_600_000)

    private struct State {
        var ledger: SlidingLedger
        var random: SeededRandom
    }

    private let state: Mutex<State>
    private let fresh: SlidingLedger
    private let isForgetful: Bool
    private let isAlone: Bool
    private let hasFaults: Bool
    private let time: ManualTime
    /// When its clock is set back, by how much, and when it is corrected, if ever.
    private let setBack: (at: Double, by: Double, rightAt: Double)
    private let setForward: Double

    init(_ ledger: SlidingLedger, seed: UInt64, _ plan: Fleet.Plan, _ time: ManualTime) {
        var random = SeededRandom(seed: seed ^ 0xC10C)
        let at = random.uniform(0..<(random.unit() < 0.5 ? 100 : 1.5 * Fleet.window))
        let by = plan.hasFaults && random.unit() < 0.3 ? random.uniform(1..<Fleet.window) : 0
        // Once the ledger's time has gone on, setting its clock right is setting it forward.
        setBack = (at, by, random.unit() < 0.3 ? .infinity : at + random.unit() * by)
        setForward = plan.setForward ?? .infinity
        state = Mutex(State(ledger: ledger, random: random))
        fresh = ledger
        isForgetful = plan.ledger == .lostOnRestart
        isAlone = plan.ledger == .timeGoesBack
        hasFaults = plan.hasFaults
        self.time = time
    }

    func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant {
        try await travel()
        let now = time.now / .seconds(1)
        let clock =
            now - ((setBack.at..<setBack.rightAt).contains(now) ? setBack.by : 0) + (now < setForward ? 0 : 7_200)
        let answer = state.withLock { state in
            if isForgetful, state.random.unit() < 0.002 { state.ledger = fresh }
            return state.ledger.take(count, at: clock)
        }
        try await travel()
        // The next call is never at exactly that moment.
        let wait = answer.granted > 0 ? 0 : min(answer.wait, 300) + state.withLock { $0.random.uniform(0..<0.05) }
        // Where the ledger sees for itself that its clock was set back, the processes need not: they would end, and with
        // them the seed. Where it was not read for so long that it cannot see it, they have to.
        let isShown = setForward.isFinite || answer.granted > 0 && !isAlone
        let shown = isShown ? Self.midnight + .seconds(clock) : nil
        return RateGrant(granted: answer.granted, wait: .seconds(wait), clock: shown)
    }

    func close(_ stream: StreamName, for wait: Duration) async throws {}

    /// Half of a round trip: mostly 25 ms, seldom longer than a grant lives.
    private func travel() async throws {
        let seconds = state.withLock { state in
            !hasFaults || state.random.unit() < 0.98
                ? state.random.uniform(0.001..<0.025) : state.random.uniform(0..<7.5)
        }
        try await time.timekeeper.sleep(.seconds(seconds))
    }
}
