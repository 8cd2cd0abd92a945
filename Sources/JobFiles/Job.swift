package import AppStoreModel
import Streams

/// A job of any kind: what every job has, and its work.
///
/// `sign` works with any of them and reads only a part of the file, ``SignerJob``.
package enum Job: JobDescription {
    case crawl(JobFile)
    case action(ActionJob)
    /// Only a receiver; the job of a crawl can have one too.
    case receiver(ReceiverJob)

    private var common: any JobDescription {
        switch self {
        case .crawl(let job): job
        case .action(let job): job
        case .receiver(let job): job
        }
    }

    package var name: String { common.name }
    package var app: JobFile.App { common.app }
    package var postgres: PostgresOutput { common.postgres }
    package var warnings: [String] { common.warnings }
}

/// What every job has.
package protocol JobDescription: Sendable {
    var name: String { get }
    var app: JobFile.App { get }
    var postgres: PostgresOutput { get }
    var warnings: [String] { get }
}

/// What jobs with requests to Apple have: crawls and actions.
package protocol RequestingJob: JobDescription {
    var path: String { get }
    var appStore: JobFile.AppStore { get }
    var limits: JobLimits { get }
    /// The job's streams or its action that Apple offers only in the sandbox.
    var sandboxOnly: [StreamName] { get }
}

extension RequestingJob {
    /// See ``Streams/SandboxOnly``.
    package var sandboxOnlyWarning: String? { SandboxOnly.warning(sandboxOnly, in: app.environment) }
}
