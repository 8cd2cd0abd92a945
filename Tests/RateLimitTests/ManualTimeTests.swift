import AppStoreModel
import Basics
import TestSupport
import Testing

struct ManualTimeTests {
    @Test func `sleepers wake by deadline, and only when time reaches it`() async throws {
        let time = ManualTime()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for seconds in [3, 1, 2] {
                group.addTask {
                    try await time.timekeeper.sleep(.seconds(seconds))
                    return seconds
                }
            }
            for expected in 1...3 {
                await time.untilAsleep(4 - expected)
                #expect(time.advanceToNextDeadline())
                let woken = try await group.next()
                #expect(woken == expected)
                #expect(time.now == .seconds(expected))
            }
        }
        #expect(!time.advanceToNextDeadline())
    }

    @Test func `a cancelled sleeper wakes at once`() async {
        let time = ManualTime()
        let sleeper = Task { try await time.timekeeper.sleep(.seconds(3_600)) }
        await time.untilAsleep()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(time.now == .zero)
        #expect(time.sleepers == 0)
    }

    @Test func `automatic time passes when something sleeps`() async throws {
        let time = ManualTime(.automatic)
        let start = time.wallClock
        try await time.timekeeper.sleep(.seconds(90))
        #expect(time.now == .seconds(90))
        #expect(time.wallClock - start == .seconds(90))
        #expect(time.slept == [.seconds(90)])
    }
}
