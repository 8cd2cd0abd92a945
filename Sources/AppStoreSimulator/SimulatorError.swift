/// Why the simulator did not start, or did not do what it was told.
package struct SimulatorError: Error, Equatable, CustomStringConvertible, Sendable {
    package enum Reason: Equatable, Sendable {
        /// An option is out of range.
        case option
        /// A file cannot be read or does not say what it should.
        case input
        /// A file or directory cannot be written.
        case output
        /// The port is taken or forbidden.
        case port
    }

    package let reason: Reason
    /// What was being done, to what, what was found, and what would be right.
    package let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
