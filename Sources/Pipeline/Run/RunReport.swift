package import Ledger
package import Publish

/// What one process's part in a run came to.
package struct RunReport: Sendable {
    package let job: String
    package let joined: Bool
    package let start: RunStart
    package let summary: RunSummary
    /// How long this process waited for limits, for the endpoint that kept it waiting longest.
    package let waitedForLimits: Duration
    package let elapsed: Duration
    /// What was published; `nil` without CSV output, or when another process published.
    package let manifest: Manifest?
    package let csvDirectory: String?

    package var exitStatus: ExitStatus { ExitStatus(rawValue: summary.exitCode) ?? .bug }
}
