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

/// Another file has the job's name and other streams, so the run would start all its items again.
package struct OtherJobFile: Error {
    package let job: String
    /// The file of the job's last run.
    package let known: JobFilePlace
    package let found: JobFilePlace

    package init(job: String, known: JobFilePlace, found: JobFilePlace) {
        self.job = job
        self.known = known
        self.found = found
    }
}
