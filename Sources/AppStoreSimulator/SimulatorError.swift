/// Why the simulator did not start, or refused a request to its own endpoints.
package struct SimulatorError: Error, Equatable, CustomStringConvertible, Sendable {
    package enum Reason: Equatable, Sendable {
        /// An option is out of range.
        case option
        /// A file cannot be read, or its content is invalid.
        case input
        /// A file or directory cannot be written.
        case output
        /// The port is in use or not permitted.
        case port
    }

    package let reason: Reason
    /// The action, its object, the problem, and a valid value where there is one.
    package let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
