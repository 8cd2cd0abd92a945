import Basics
import Testing

struct TimekeeperTests {
    private let time = Timekeeper.system

    @Test func `the wall clock shows this century`() {
        #expect((1_790_000_000_000..<4_102_444_800_000).contains(time.wallClock()))
    }

    @Test func `monotonic time never goes back, and sleeping takes some of it`() async throws {
        let before = time.monotonic()
        try await time.sleep(.milliseconds(2))
        #expect(time.monotonic() - before >= .milliseconds(2))
        #expect(before >= .zero)
    }

    @Test func `cancelling ends a sleep`() async {
        let sleeper = Task { try await time.sleep(.seconds(3_600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `chance stays below one`() {
        for _ in 0..<1_000 { #expect((0..<1).contains(time.random())) }
    }
}
