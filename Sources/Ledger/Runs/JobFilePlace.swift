package import Basics

/// Where a job file is.
package struct JobFilePlace: Equatable, Sendable, CustomStringConvertible {
    /// An absolute path.
    package let path: String
    /// The name of the machine.
    package let host: String

    package init(path: String, host: String) {
        self.path = path
        self.host = host
    }

    package var description: String { "\(path) on \(host)" }
}

/// Another file has the job's name and requests something else, so each run would make the other file's next run request
/// customers again.
package struct OtherJobFile: ExplainedError {
    /// What differs from the file of the job's last run.
    package enum Difference: Sendable {
        case streams
        /// One file lists its transaction IDs, and the other one takes them from notifications.
        case transactionIDs
    }

    package let job: String
    /// The file of the job's last run.
    package let known: JobFilePlace
    package let found: JobFilePlace
    package let difference: Difference

    package init(job: String, known: JobFilePlace, found: JobFilePlace, difference: Difference) {
        self.job = job
        self.known = known
        self.found = found
        self.difference = difference
    }

    package var status: ExitStatus { .configuration }

    package var sentence: String {
        "job \(job) is already in \(known), with \(difference == .streams ? "other streams or filters" : "another source of transaction IDs") than \(found). Change name in one of the two files. If \(found.path) replaces the other file, run it once with --restart"
    }
}
