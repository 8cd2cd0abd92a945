/// Counts of durations by upper bound, as Prometheus expects them.
struct Histogram {
    /// The bounds in seconds: Apple's time limit is a few seconds, and the goal is 50 ms.
    static let bounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]

    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sum = 0.0

    mutating func add(_ seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    /// Each bound with the number of durations up to it; the last is infinity.
    var cumulative: [(bound: String, count: Int)] {
        var total = 0
        return zip(Self.bounds.map { "\($0)" } + ["+Inf"], counts).map { bound, count in
            total += count
            return (bound, total)
        }
    }

    var count: Int { counts.reduce(0, +) }
}
