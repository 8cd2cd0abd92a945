package import Basics

/// All problems of a job file.
///
/// No message ever shows a key, a password or a value from the environment.
package struct JobFileError: ExplainedError, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        case invalid
        /// Missing, unreadable, or not a regular file.
        case missingFile
        /// The environment has a private key itself instead of the name of its file.
        case configuration
    }

    /// One problem, with what was found and what is expected.
    package struct Problem: Equatable, Sendable {
        /// Counted from 1; `nil` when the problem concerns the whole file.
        package let line: Int?
        /// Counted from 1 in Unicode scalars.
        package let column: Int?
        /// The key with its parent keys, such as `limits.share`.
        ///
        /// For the whole file, `the job file`.
        package let keyPath: String
        /// What was found, as the rest of a sentence that begins with the key: `is 1.5`.
        package let found: String
        /// What would be right: `it must be more than 0 and at most 1`.
        package let expected: String
    }

    /// The job file's path as the caller gave it.
    package let path: String
    package let kind: Kind
    /// At least one, in the order of the file.
    package let problems: [Problem]

    /// One line for each problem: `jobs/nightly.yaml:12:10: limits.share is 1.5; it must be more than 0 and at most 1`.
    package var description: String {
        problems.map { problem in
            let place = Place(keyPath: problem.keyPath, line: problem.line, column: problem.column)
            return "\(path)\(place.suffix): \(place.keyPath) \(problem.found); \(problem.expected)"
        }
        .joined(separator: "\n")
    }

    package var status: ExitStatus {
        switch kind {
        case .invalid: .badInput
        case .missingFile: .missingInput
        case .configuration: .configuration
        }
    }
}
