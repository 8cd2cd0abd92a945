import Platform

/// The clocks, the sleep function and the random numbers of the program; tests replace them.
package struct Timekeeper: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z by the machine's clock, which can jump in both directions.
    package var wallClock: @Sendable () -> Int64
    /// The time since an arbitrary start.
    ///
    /// It never goes back, and continues while the machine is suspended.
    package var monotonic: @Sendable () -> Duration
    /// Returns after the duration, or throws `CancellationError` when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number in `0..<1`, for jitter between retries; not for secrets.
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
    /// The machine's clocks.
    ///
    /// `ContinuousClock` reads `CLOCK_BOOTTIME`, which includes the time of a suspend: the age of a grant or lease is then the
    /// same as on other machines.
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
