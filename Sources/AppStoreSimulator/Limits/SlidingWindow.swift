import AppStoreModel

/// Counts arrivals exactly: never more than `limit` of them within any span as long as the window.
///
/// Takes the time from its caller. Refused arrivals do not count.
struct SlidingWindow: Sendable {
    private let limit: Int
    private let length: Duration
    /// Admitted arrivals, oldest first, from `oldest` on; what lies before has left the window.
    private var admitted: [UnixMilliseconds] = []
    private var oldest = 0

    init(limit: Int, length: Duration) {
        self.limit = limit
        self.length = length
    }

    /// Admits the arrival and returns `nil`, or returns the moment when the oldest one leaves the window.
    mutating func admit(at now: UnixMilliseconds) -> UnixMilliseconds? {
        while oldest < admitted.count, admitted[oldest] + length <= now { oldest += 1 }
        if oldest > 4_096, oldest > admitted.count / 2 {
            admitted.removeFirst(oldest)
            oldest = 0
        }
        guard admitted.count - oldest < limit else { return admitted[oldest] + length }
        admitted.append(now)
        return nil
    }
}
