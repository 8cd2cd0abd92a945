/// The part of a job file that `receive` needs.
///
/// Any job file of a crawl has it. A job file without `streams` can have the section `receiver` instead; it then needs neither
/// Apple's keys nor IDs, because a receiver sends no request.
package struct ReceiverJob: Equatable, Sendable {
    package let path: String
    package let name: String
    package let app: JobFile.App
    /// The server whose notifications the job trusts; Apple's, or in a rehearsal one on loopback.
    package let baseURL: String
    /// Certificate files that replace the built-in Apple root; empty unless ``baseURL`` is a loopback address.
    package let trustedRoots: [String]
    package let receiver: ReceiverSettings
    package let postgres: PostgresOutput
    package let warnings: [String]
}

extension ReceiverJob {
    /// The receiver of a crawl's job.
    package init(_ job: JobFile) {
        self.init(
            path: job.path,
            name: job.name,
            app: job.app,
            baseURL: job.appStore.baseURL,
            trustedRoots: job.appStore.trustedRoots,
            receiver: job.receiver ?? ReceiverSettings(),
            postgres: job.output.postgres,
            warnings: job.warnings
        )
    }

    /// Reads and checks a job file.
    ///
    /// Opens no other file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Messages show it unchanged.
    ///   - environment: The environment variables for `${NAME}`.
    /// - Returns: The job, with every default filled in.
    /// - Throws: One error with all problems of the file.
    package static func load(path: String, environment: [String: String]) throws(JobFileError) -> ReceiverJob {
        switch try AnyJob.load(path: path, environment: environment) {
        case .crawl(let job): return ReceiverJob(job)
        case .receiver(let job): return job
        case .action:
            // Reading it as a crawl explains that it is the job of an action.
            return ReceiverJob(try JobFile.load(path: path, environment: environment))
        }
    }

    /// Checks the text of a job file without streams.
    package static func parse(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> ReceiverJob {
        try JobFileReader.parse(text, path: path, environment: environment) { $0.receiverJob($1) }
    }
}
