/// The rolling window that a request limit is counted in, with the safety margin that belongs to it.
///
/// Against Apple it is an hour. A rehearsal's is shorter, and the margin shrinks with it, but never below a quarter of
/// a second: a durable commit takes some 20 ms, and a shorter grant would burn the budget unsent.
package struct RateWindow: Hashable, Sendable {
    /// Apple's.
    package static let hour = RateWindow(length: .seconds(3_600))

    /// Above zero.
    package let length: Duration

    package init(length: Duration) {
        precondition(length > .zero, "a window without length")
        self.length = length
    }

    /// How long after asking a granted request may still be sent: 10 s of an hour.
    package var grantLife: Duration { margin(seconds: 10) }

    /// How long after sending a request may still reach Apple: 30 s of an hour.
    package var flightTime: Duration { margin(seconds: 30) }

    private func margin(seconds: Int) -> Duration {
        max(length * seconds / 3_600, .milliseconds(250))
    }
}
