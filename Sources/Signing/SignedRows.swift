import AppStoreModel

/// The outcome for rows of the input that are signed together.
struct SignedRows: Sendable {
    /// The rows of the input.
    let count: Int
    /// The rows of the output; incomplete if there are problems.
    var output: [UInt8] = []
    var problems: [RowProblem] = []
    /// `nil` unless they are signed.
    var unknownMembers: UnknownMembers?

    init(count: Int) {
        self.count = count
    }
}

/// A row that breaks a rule, so that it cannot be signed.
package struct RowProblem: Error, Equatable, Sendable {
    /// The line of the input in which the row begins, from 1.
    package let line: Int
    package let sentence: String

    init(_ line: Int, _ sentence: String) {
        self.line = line
        self.sentence = sentence
    }
}
