import FoundationEssentials

/// How a process of `run` or `retry` ended, for ``MetricsText``.
///
/// It needs neither the job file nor the ledger, so it is known after every exit.
struct LastExit: Sendable {
    let code: Int32
    let moment: Date
    /// The job file as named on the command line; `nil` if the command line names none.
    let jobFile: String?
    /// Bundle ID, environment and name of the job; `nil` if the job file was not read.
    var job: (app: String, environment: String, name: String)?

    var labels: [(String, String)] {
        var labels = jobFile.map { [("job_file", $0)] } ?? []
        if let job { labels += [("app", job.app), ("environment", job.environment), ("job_name", job.name)] }
        return labels
    }
}
