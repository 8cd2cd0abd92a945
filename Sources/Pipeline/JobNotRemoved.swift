package import Basics

/// Why a job was not removed.
package enum JobNotRemoved: ExplainedError, Equatable, Sendable {
    /// No app of the ledger has a job of this name.
    case unknown(job: String)
    /// Several apps have one; each is written as bundle ID and environment.
    case ambiguous(job: String, apps: [String])
    /// A process has leased items of the job.
    case running(job: String)

    package var status: ExitStatus {
        switch self {
        case .unknown, .ambiguous: .badInput
        case .running: .workLeft
        }
    }

    package var sentence: String {
        switch self {
        case .unknown(let job): "the ledger has no job \(job); storeledger jobs lists them"
        case .ambiguous(let job, let apps):
            "\(apps.count) apps have a job \(job): \(apps.joined(separator: ", ")). Name one with --app and --environment"
        case .running(let job): "\(job) is running, so it was not removed. Stop its process and try again"
        }
    }
}
