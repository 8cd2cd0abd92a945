import AppStoreModel

/// Counts requests exactly: never more than `limit` of them within any span as long as the window.
///
/// The caller passes the time. Refused requests do not count.
struct SlidingWindow: Sendable {
    private let limit: Int
    private let length: Duration
    /// The counted requests, oldest first.
    ///
    /// Those before the index `oldest` have left the window.
    private var counted: [UnixMilliseconds] = []
    private var oldest = 0

    init(limit: Int, length: Duration) {
        self.limit = limit
        self.length = length
    }

    /// Counts the request and returns `nil`, or returns the moment when the oldest request leaves the window.
    mutating func reserve(at now: UnixMilliseconds) -> UnixMilliseconds? {
        while oldest < counted.count, counted[oldest] + length <= now { oldest += 1 }
        if oldest > 4_096, oldest > counted.count / 2 {
            counted.removeFirst(oldest)
            oldest = 0
        }
        guard counted.count - oldest < limit else { return counted[oldest] + length }
        counted.append(now)
        return nil
    }
}
