@testable import Crawl

/// The rules of the durable ledger as a value, with the mistakes one can make in them.
///
/// A unit counts from the beginning of its bucket until the window, the grant's life and the flight time have passed
/// since the bucket's **end**.
struct SlidingLedger {
    enum Mutant: CaseIterable, Sendable {
        case oneTooMany
        /// The worker's mistake rather than the ledger's: a grant may be used at any age.
        case grantsNeverExpire
        case bucketsDroppedByStart
        case windowWithoutMargin
        case lostOnRestart
    }

    private struct Bucket {
        let start: Double
        var units: Int
    }

    let share: Int
    private let horizon: Double
    private let bucketLength: Double
    private let dropsByStart: Bool
    private var buckets: ArraySlice<Bucket> = []
    private var spent = 0

    /// Begins with nothing spent; `share` is for any `window`, and all times are in seconds.
    init(share: Int, window: Double, grantLife: Double, flightTime: Double, mutant: Mutant? = nil) {
        self.share = mutant == .oneTooMany ? share + 1 : share
        horizon = mutant == .windowWithoutMargin ? window : window + grantLife + flightTime
        bucketLength = mutant == .bucketsDroppedByStart ? window / 60 : 1
        dropsByStart = mutant == .bucketsDroppedByStart
    }

    /// Takes up to `count` units at `now`, which never goes back.
    mutating func take(_ count: Int, at now: Double) -> Int {
        while let oldest = buckets.first, end(of: oldest) <= now {
            spent -= oldest.units
            buckets.removeFirst()
        }
        let granted = min(count, share - spent)
        guard granted > 0 else { return 0 }
        let start = (now / bucketLength).rounded(.down) * bucketLength
        if let last = buckets.indices.last, buckets[last].start == start {
            buckets[last].units += granted
        } else {
            buckets.append(Bucket(start: start, units: granted))
        }
        spent += granted
        return granted
    }

    /// Seconds until the oldest bucket leaves the window.
    func wait(at now: Double) -> Double {
        buckets.first.map { max(end(of: $0) - now, 0.001) } ?? 0.001
    }

    private func end(of bucket: Bucket) -> Double {
        bucket.start + (dropsByStart ? 0 : bucketLength) + horizon
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
