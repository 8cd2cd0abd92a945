/// An error that says how the process ends.
package protocol ExplainedError: Error {
    var status: ExitStatus { get }
    /// The cause and the remedy, without secrets: one line, or one line for each mistake in a file.
    var sentence: String { get }
}

extension ExplainedError where Self: CustomStringConvertible {
    package var sentence: String { description }
}
