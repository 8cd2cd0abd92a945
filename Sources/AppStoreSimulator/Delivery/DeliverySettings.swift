/// Where and how a simulated App Store posts its notifications.
package struct DeliverySettings: Sendable, Equatable {
    /// Apple's version of App Store Server Notifications.
    package enum Version: String, CaseIterable, Sendable {
        /// Signed.
        case two = "2"
        /// Unsigned, with the shared secret; deprecated.
        case one = "1"
    }

    /// `https`, or `http` to a loopback host.
    package var url: String
    package var version = Version.two
    /// Apple's pauses between two attempts are divided by this; 1 to 1,000,000.
    package var retrySpeed = 1
    /// The most posts at a time, 1 to 1,000.
    package var concurrency = 8
    /// The member `password` of version 1.
    package var sharedSecret = "0123456789abcdef0123456789abcdef"

    package init(url: String) {
        self.url = url
    }

    /// - Throws: ``SimulatorError`` for the first value that cannot be used.
    func check() throws(SimulatorError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw SimulatorError(
                .option,
                "--notify-url is \"\(url)\"; it must be such as http://127.0.0.1:8090/notifications."
            )
        }
        for (option, value, range) in [
            ("--retry-speed", retrySpeed, 1...1_000_000), ("--notify-concurrency", concurrency, 1...1_000),
        ] where !range.contains(value) {
            throw SimulatorError(
                .option,
                "\(option) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)."
            )
        }
    }
}
