/// Adds up the time in which a condition was true.
struct Stopwatch: Sendable {
    private var sum = Duration.zero
    private var since: Duration?

    /// Sets whether the condition is true from `now` on.
    mutating func run(_ isRunning: Bool, at now: Duration) {
        if isRunning, since == nil {
            since = now
        } else if !isRunning, let start = since {
            sum += now - start
            since = nil
        }
    }

    func total(at now: Duration) -> Duration {
        guard let since else { return sum }
        return sum + (now - since)
    }
}
