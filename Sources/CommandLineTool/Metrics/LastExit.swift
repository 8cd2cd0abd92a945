import AppStoreModel
import FoundationEssentials
import JobFiles

/// How a process of `run`, `retry` or `actions run` ended, for ``MetricsText``.
///
/// It needs neither the job file nor the ledger, so it is known after every exit.
struct LastExit: Sendable {
    let code: Int32
    let moment: Date
    /// The job file as named on the command line; `nil` if the command line names none.
    let jobFile: String?
    /// Bundle ID, environment and name of the job; `nil` if the job file was not read.
    var job: (app: String, environment: String, name: String)?
    /// Whether the job's webhook has taken the report of this exit; `nil` if none was sent.
    var isNotified: Bool?

    /// - Parameters:
    ///   - code: The exit code of a process that ends now.
    ///   - job: Its job; `nil` if the job file was not read.
    ///   - jobFile: The job file as named on the command line.
    init(code: Int32, of job: (any JobDescription)?, in jobFile: String?) {
        self.code = code
        moment = Date.now
        self.jobFile = jobFile
        self.job = job.map { ($0.app.bundleId, $0.app.environment.rawValue, $0.name) }
    }

    var labels: [(String, String)] {
        var labels = jobFile.map { [("job_file", $0)] } ?? []
        if let job { labels += [("app", job.app), ("environment", job.environment), ("job_name", job.name)] }
        return labels
    }
}
