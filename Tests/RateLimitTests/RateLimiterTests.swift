import AppStoreModel
import Basics
import Streams
import Synchronization
import TestSupport
import Testing

@testable import RateLimit

struct RateLimiterTests {
    private let time = ManualTime()

    private func limiter(_ ledger: some RateLedger, requestsPerSecond: Double = 25) -> RateLimiter {
        RateLimiter(
            stream: .transactionHistory,
            terms: LimiterTerms(requestsPerSecond: requestsPerSecond),
            ledger: ledger,
            time: time.timekeeper
        )
    }

    /// Returns once `count` workers wait.
    private func until(_ count: Int, wait limiter: RateLimiter) async {
        while await limiter.waiters.count != count { await Task.yield() }
    }

    @Test func `many waiters share one call at a time, for at most a block`() async throws {
        let gate = Latch()
        let ledger = ScriptedLedger { call, atMost in
            if call == 1 { await gate.pass() }
            return .granted(atMost)
        }
        let limiter = limiter(ledger)
        try await withThrowingTaskGroup(of: Permit.self) { group in
            group.addTask { try await limiter.permit() }
            await until(1, wait: limiter)
            while ledger.asked.isEmpty { await Task.yield() }
            for _ in 2...41 { group.addTask { try await limiter.permit() } }
            await until(41, wait: limiter)
            gate.open()
            try await group.waitForAll()
        }
        #expect(ledger.asked == [1, 25, 15])
        #expect(ledger.mostCallsAtOnce == 1)
    }

    @Test func `who came first is served first`() async throws {
        let served = Served()
        let ledger = ScriptedLedger { call, _ in
            guard call > 1 else { return .refused(.seconds(1)) }
            // One at a time, and the next only when the one before has noted its turn.
            while served.numbers.count < call - 2 { await Task.yield() }
            return .granted(1)
        }
        let limiter = limiter(ledger)
        var workers: [Task<Void, any Error>] = []
        for number in 1...20 {
            workers.append(
                Task {
                    _ = try await limiter.permit()
                    served.note(number)
                }
            )
            await until(number, wait: limiter)
        }
        await time.untilAsleep()
        time.advance(by: .seconds(1))
        for worker in workers { try await worker.value }
        #expect(served.numbers == Array(1...20))
    }

    @Test func `an observer learns how long the endpoint is closed, and nothing of waits for an even pace`()
        async throws
    {
        let stalls = Mutex<[Duration]>([])
        let answers: [RateGrant] = [
            RateGrant(granted: 0, wait: .seconds(2), refusal: .pace), .refused(.seconds(40)), .granted(1),
        ]
        let limiter = RateLimiter(
            stream: .transactionHistory,
            terms: LimiterTerms(requestsPerSecond: 25),
            ledger: ScriptedLedger { call, _ in answers[call - 1] },
            time: time.timekeeper
        ) { answer in stalls.withLock { $0.append(answer.wait) } }
        let worker = Task { try await limiter.permit() }
        for wait in [2, 40] {
            await time.untilAsleep()
            time.advance(by: .seconds(wait))
        }
        _ = try await worker.value
        #expect(stalls.withLock(\.self) == [.seconds(40)])
    }

    @Test func `a waiter that is cancelled leaves its place and its unit to the others`() async throws {
        let gate = Latch()
        let ledger = ScriptedLedger { call, atMost in
            await gate.pass()
            return .granted(call == 1 ? 1 : atMost)
        }
        let limiter = limiter(ledger)
        let first = Task { try await limiter.permit() }
        await until(1, wait: limiter)
        let second = Task { try await limiter.permit() }
        await until(2, wait: limiter)
        let third = Task { try await limiter.permit() }
        await until(3, wait: limiter)

        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await until(2, wait: limiter)
        gate.open()
        _ = try await second.value
        _ = try await third.value
        #expect(ledger.asked.reduce(0, +) <= 3)
        #expect(await limiter.waiters.isEmpty)
    }

    @Test func `units survive any storm of cancellations`() async throws {
        let supply = Mutex(5_000)
        let ledger = ScriptedLedger { _, atMost in
            await Task.yield()
            return try supply.withLock { left in
                guard left > 0 else { throw ScriptedLedger.Broken() }
                let granted = min(atMost, left)
                left -= granted
                return .granted(granted)
            }
        }
        let limiter = limiter(ledger)
        var random = SeededRandom(seed: 7)
        var used = 0
        for _ in 0..<20 {
            let workers = (0..<100).map { _ in Task { try await limiter.permit() } }
            for _ in 0..<Int.random(in: 0..<50, using: &random) { await Task.yield() }
            for worker in workers where random.unit() < 0.5 { worker.cancel() }
            for worker in workers {
                if case .success = await worker.result { used += 1 }
            }
        }
        #expect(await limiter.waiters.isEmpty)
        await #expect(throws: ScriptedLedger.Broken.self) {
            while true {
                _ = try await limiter.permit()
                used += 1
            }
        }
        #expect(used == 5_000)
    }

    @Test func `the last waiter to be cancelled ends the wait for the ledger`() async throws {
        let ledger = ScriptedLedger { call, atMost in call == 1 ? .refused(.seconds(3_600)) : .granted(atMost)
        }
        let limiter = limiter(ledger)
        let worker = Task { try await limiter.permit() }
        await time.untilAsleep()
        worker.cancel()
        await #expect(throws: CancellationError.self) { try await worker.value }
        #expect(time.sleepers == 0)

        let next = Task { try await limiter.permit() }
        await time.untilAsleep()
        time.advance(by: .seconds(3_600))
        _ = try await next.value
    }

    @Test func `a cancelled task gets no permit at all`() async {
        let ledger = ScriptedLedger()
        let limiter = limiter(ledger)
        let worker = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await limiter.permit()
        }
        worker.cancel()
        await #expect(throws: CancellationError.self) { try await worker.value }
        #expect(ledger.asked.isEmpty)
    }

    @Test func `an error of the ledger reaches every caller that waits for it, and no later caller`() async throws {
        let gate = Latch()
        let ledger = ScriptedLedger { call, atMost in
            guard call <= 2 else { return .granted(atMost) }
            await gate.pass()
            throw ScriptedLedger.Broken()
        }
        let limiter = limiter(ledger)
        let workers = (0..<40).map { _ in Task { try await limiter.permit() } }
        await until(40, wait: limiter)
        gate.open()
        for worker in workers {
            await #expect(throws: ScriptedLedger.Broken.self) { try await worker.value }
        }
        // One call at most before all were in line, and one for the rest.
        while ledger.asked.count < 2 {
            await #expect(throws: ScriptedLedger.Broken.self) { try await limiter.permit() }
        }
        _ = try await limiter.permit()
        #expect(await limiter.waiters.isEmpty)
    }

    @Test func `an answer that took longer than a grant lives is burned`() async throws {
        let time = time
        let ledger = ScriptedLedger { call, atMost in
            if call == 1 { time.advance(by: .milliseconds(10_001)) }
            return .granted(atMost)
        }
        let permit = try await limiter(ledger).permit()
        #expect(ledger.asked == [1, 1])
        #expect(permit.expires == .milliseconds(20_001))
        #expect(permit.isValid(at: permit.expires))
        #expect(!permit.isValid(at: permit.expires + .nanoseconds(1)))
        // Half of the thirty seconds that the ledger allows for the flight.
        #expect(permit.departsBy == permit.expires + .seconds(15))
    }

    @Test(arguments: [(Duration.seconds(10), [1]), (.milliseconds(10_001), [1, 1])])
    func `units left over are used while they live`(age: Duration, asked: [Int]) async throws {
        let ledger = ScriptedLedger { _, _ in .granted(2) }
        let limiter = limiter(ledger)
        _ = try await limiter.permit()
        time.advance(by: age)
        _ = try await limiter.permit()
        #expect(ledger.asked == asked)
    }

    @Test func `a shorter window shortens the life of a grant`() {
        #expect(LimiterTerms(requestsPerSecond: 1).grantLife == .seconds(10))
        // Never so short that a commit outlasts it.
        #expect(
            LimiterTerms(requestsPerSecond: 1, window: RateWindow(length: .seconds(36))).grantLife == .milliseconds(250)
        )
    }

    @Test func `a refusal is waited out and added up`() async throws {
        let ledger = ScriptedLedger { call, _ in call == 1 ? .refused(.seconds(90)) : .granted(1) }
        let limiter = limiter(ledger)
        let worker = Task { try await limiter.permit() }
        await time.untilAsleep()
        #expect(time.slept == [.seconds(90)])
        time.advance(by: .seconds(30))
        #expect(await limiter.waited == .seconds(30))
        time.advance(by: .seconds(60))
        _ = try await worker.value
        time.advance(by: .seconds(1_000))
        #expect(await limiter.waited == .seconds(90))
    }

    @Test func `a ledger that names no time is not asked in a busy loop`() async throws {
        let ledger = ScriptedLedger { call, _ in call < 3 ? .refused(.seconds(-1)) : .granted(1) }
        let limiter = limiter(ledger)
        let worker = Task { try await limiter.permit() }
        for _ in 1...2 {
            await time.untilAsleep()
            time.advance(by: .milliseconds(1))
        }
        _ = try await worker.value
        #expect(time.slept == [.milliseconds(1), .milliseconds(1)])
    }

    @Test func `a 429 closes at once, discards the remaining permits and is recorded in the ledger`() async throws {
        let ledger = ScriptedLedger { call, atMost in .granted(call == 1 ? 10 : atMost) }
        let limiter = limiter(ledger)
        _ = try await limiter.permit()
        try await limiter.close(for: .seconds(5))
        #expect(ledger.closed == [.seconds(5)])

        // The clock of the machine is put forward: the wait is not shorter for it.
        time.setWallClockForward(by: .seconds(3_600))
        let worker = Task { try await limiter.permit() }
        await time.untilAsleep()
        #expect(time.slept == [.seconds(5)])
        time.advance(by: .seconds(5))
        _ = try await worker.value
        #expect(ledger.asked == [1, 1])
    }

    @Test func `a grant that was on its way when a 429 came is burned`() async throws {
        let gate = Latch()
        let ledger = ScriptedLedger { call, atMost in
            if call == 1 { await gate.pass() }
            return .granted(atMost)
        }
        let limiter = limiter(ledger)
        let worker = Task { try await limiter.permit() }
        while ledger.asked.isEmpty { await Task.yield() }
        try await limiter.close(for: .seconds(5))
        gate.open()
        await time.untilAsleep()
        #expect(await limiter.waiters.count == 1)
        time.advance(by: .seconds(5))
        _ = try await worker.value
        #expect(ledger.asked == [1, 1])
    }

    @Test(arguments: [([-60], 1), ([-60, 30, 20], 30)])
    func `a moment already past still closes for a second, and a later one counts`(moments: [Int], wait: Int)
        async throws
    {
        let limiter = limiter(ScriptedLedger())
        for moment in moments { try await limiter.close(for: .seconds(moment)) }
        let worker = Task { try await limiter.permit() }
        await time.untilAsleep()
        #expect(time.slept == [.seconds(wait)])
        time.advance(by: .seconds(wait))
        _ = try await worker.value
    }

    /// How far the worker's clock is off, in seconds.
    @Test(arguments: [3_600, -3_600, 315_576_000])
    func `CK1 Apple's Retry-After time is compared with Apple's clock, not with the worker's`(off: Int) async throws {
        let ledger = ScriptedLedger()
        let limiter = limiter(ledger)
        // Sun, 22 Nov 2026 12:01:30 GMT.
        let answer = try await limiter.close(
            retryAfter: ["1795348890000"],
            date: "Sun, 22 Nov 2026 12:00:00 GMT"
        )
        time.setWallClockForward(by: .seconds(off))
        #expect(answer.wait == .seconds(90))
        #expect(
            try await limiter.close(retryAfter: ["1795348890000"], date: "Sun, 22 Nov 2026 12:01:00 GMT").wait
                == .seconds(30)
        )
        #expect(ledger.closed == [.seconds(90), .seconds(30)])
    }

    @Test func `429s that name no moment double the wait, once for each closing`() async throws {
        let limiter = limiter(ScriptedLedger())
        for seconds in [60, 120, 240] {
            for _ in 1...32 {
                let answer = try await limiter.close(retryAfter: ["soon"])
                #expect(answer.moment - time.wallClock == .seconds(seconds))
            }
            time.advance(by: .seconds(seconds))
        }
        time.advance(by: .seconds(61))
        #expect(try await limiter.close(retryAfter: []).moment - time.wallClock == .seconds(60))
    }

    @Test func `the process stays closed when the closing cannot be recorded in the ledger`() async throws {
        struct DeafLedger: RateLedger {
            func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant { .granted(count) }
            func close(_ stream: StreamName, for wait: Duration) async throws {
                throw ScriptedLedger.Broken()
            }
        }
        let limiter = limiter(DeafLedger())
        await #expect(throws: ScriptedLedger.Broken.self) { try await limiter.close(for: .seconds(5)) }
        let worker = Task { try await limiter.permit() }
        await time.untilAsleep()
        #expect(time.slept == [.seconds(5)])
        time.advance(by: .seconds(5))
        _ = try await worker.value
    }
}

private final class Served: Sendable {
    private let noted = Mutex<[Int]>([])

    var numbers: [Int] { noted.withLock(\.self) }

    func note(_ number: Int) {
        noted.withLock { $0.append(number) }
    }
}
