/// The rolling window in which requests are counted, with its safety margins.
///
/// With Apple it is an hour. A run against the simulator can use a shorter one. The margins shrink with it, but not below a
/// quarter of a second: a durable commit takes about 20 ms, and shorter grants would expire unused.
package struct RateWindow: Hashable, Sendable {
    /// Apple's window.
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
