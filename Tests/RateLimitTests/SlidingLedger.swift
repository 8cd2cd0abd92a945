/// The rules of `rate_take` in sql/migrations as a value, with the mistakes one can make in them.
///
/// A unit counts from the beginning of its bucket until the window, the grant's life and the flight time have passed
/// since the bucket's **end**.
struct SlidingLedger {
    enum Mutant: CaseIterable, Sendable {
        case oneTooMany
        case bucketsDroppedByStart
        case windowWithoutMargin
        case lostOnRestart
        case timeGoesBack
    }

    private struct Bucket {
        let start: Double
        var units: Int
    }

    let share: Int
    private let horizon: Double
    private let bucketLength: Double
    private let mutant: Mutant?
    /// Seconds between two units at an even pace; `nil` when only the budget limits, which is the harder case.
    private let pace: Double?
    private var next = -Double.infinity
    private var lastNow = -Double.infinity
    private var buckets: ArraySlice<Bucket> = []
    private var spent = 0

    /// Begins with nothing spent; `share` is for any `window`, and all times are in seconds.
    init(
        share: Int,
        window: Double,
        grantLife: Double,
        flightTime: Double,
        isPaced: Bool = false,
        mutant: Mutant? = nil
    ) {
        self.share = mutant == .oneTooMany ? share + 1 : share
        self.mutant = mutant
        horizon = mutant == .windowWithoutMargin ? window : window + grantLife + flightTime
        bucketLength = mutant == .bucketsDroppedByStart ? window / 60 : window / 3_600
        pace = isPaced ? window / Double(share) : nil
    }

    /// Takes up to `count` units when the ledger's clock, which may be set, says `clock`.
    ///
    /// - Returns: The units, and how many seconds to wait where there are none.
    mutating func take(_ count: Int, at clock: Double) -> (granted: Int, wait: Double) {
        let now = clock
        if mutant != .timeGoesBack, clock < lastNow { return (0, lastNow - clock) }
        lastNow = now
        forget(at: now)
        guard spent < share else { return (0, max(buckets.map { end(of: $0) }.min().map { $0 - clock } ?? 1, 0.001)) }
        var granted = min(count, share - spent)
        if let pace {
            next = max(next, now - 0.2)
            guard next <= now else { return (0, next - clock) }
            granted = min(granted, 1 + Int((now - next) / pace))
            next += Double(granted) * pace
        }
        let start = (now / bucketLength).rounded(.down) * bucketLength
        if let last = buckets.indices.last, buckets[last].start == start {
            buckets[last].units += granted
        } else {
            buckets.append(Bucket(start: start, units: granted))
        }
        spent += granted
        return (granted, 0)
    }

    private mutating func forget(at now: Double) {
        if mutant == .timeGoesBack {
            buckets = buckets.filter { end(of: $0) > now }[...]
            spent = buckets.reduce(0) { $0 + $1.units }
        }
        while let oldest = buckets.first, end(of: oldest) <= now {
            spent -= oldest.units
            buckets.removeFirst()
        }
    }

    private func end(of bucket: Bucket) -> Double {
        bucket.start + (mutant == .bucketsDroppedByStart ? 0 : bucketLength) + horizon
    }
}

/// The most arrivals in any window of `window` seconds that is open at one end: exact, by two pointers.
func worstWindow(_ arrivals: [Double], window: Double) -> Int {
    let sorted = arrivals.sorted()
    var oldest = 0
    var worst = 0
    for (newest, moment) in sorted.enumerated() {
        while sorted[oldest] <= moment - window { oldest += 1 }
        worst = max(worst, newest - oldest + 1)
    }
    return worst
}
