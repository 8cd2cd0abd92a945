import Basics

/// How fast things are done, measured over the last minute.
struct DonePace: Sendable {
    /// What was done at moments of the last minute, oldest first.
    private var samples: [(at: Duration, done: Int64)] = []

    /// Notes what was done before, which is not part of the pace; only the first call counts.
    mutating func begin(_ done: Int64, at now: Duration) {
        if samples.isEmpty { samples = [(now, done)] }
    }

    mutating func note(_ done: Int64, at now: Duration) {
        if let last = samples.last, now - last.at < .seconds(1) { return }
        samples.append((now, done))
        while samples.count > 2, now - samples[1].at >= TimeEstimate.memory { samples.removeFirst() }
    }

    func perSecond(_ done: Int64, at now: Duration) -> Double {
        guard let first = samples.first, now > first.at else { return 0 }
        return Double(max(done - first.done, 0)) / (now - first.at).inSeconds
    }
}
