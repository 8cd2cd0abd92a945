/// The part of a job file that `receive` needs.
///
/// Any job file of a crawl has it. A job file without `streams` can have the section `receiver` instead; it then needs neither
/// Apple's keys nor IDs, because a receiver sends no request.
package struct ReceiverJob: JobDescription, Equatable {
    package let path: String
    package let name: String
    package let app: JobFile.App
    /// The server whose notifications the job trusts; Apple's, or one on loopback, such as the simulator.
    package let baseURL: String
    /// Certificate files that replace the built-in Apple root; empty unless ``baseURL`` is a loopback address.
    package let trustedRoots: [String]
    package let receiver: ReceiverSettings
    package let postgres: PostgresOutput
    package let warnings: [String]
}

extension ReceiverJob {
    /// The receiver of a crawl's job.
    init(_ job: JobFile) {
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
}
