import Glibc

/// What the program asks of time and chance; replaced as a whole in tests.
package struct Timekeeper: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, as this machine believes; may jump in both directions.
    package var wallClock: @Sendable () -> Int64
    /// Time since an arbitrary start; never goes back, and goes on while the machine is suspended.
    package var monotonic: @Sendable () -> Duration
    /// Returns after the duration; throws `CancellationError` as soon as the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number in `0..<1`, for spreading retries apart; not for secrets.
    package var random: @Sendable () -> Double

    package init(
        wallClock: @escaping @Sendable () -> Int64,
        monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.wallClock = wallClock
        self.monotonic = monotonic
        self.sleep = sleep
        self.random = random
    }
}

extension Timekeeper {
    /// The machine's own clocks.
    ///
    /// `ContinuousClock` reads `CLOCK_BOOTTIME`, so a grant or lease is as old after a suspend as it is for everybody else.
    package static let system: Timekeeper = {
        let start = ContinuousClock.now
        return Timekeeper(
            wallClock: {
                var now = timespec()
                unsafe clock_gettime(CLOCK_REALTIME, &now)
                return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
            },
            monotonic: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0, clock: .continuous) },
            random: { .random(in: 0..<1) }
        )
    }()
}
