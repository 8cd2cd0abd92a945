package import Basics
package import Ledger
import LedgerSchema
package import Planning
package import Status

/// The result of one process's part of a run.
package struct SessionResult: Sendable {
    package let job: String
    let app: AppID
    package let joined: Bool
    package let start: StartedRun
    package let summary: RunSummary
    /// How long this process waited for rate limits, for the endpoint with the longest wait.
    package let waitedForLimits: Duration
    package internal(set) var elapsed: Duration
    /// The published files; empty if the job publishes none, or if another process published them.
    package let published: [PublishedFiles]
    /// Why the views were not refreshed; `nil` if they are up to date.
    package internal(set) var viewsFailure: String?
    /// What the job's `retention` removed, for each part with a term.
    package let removed: [OldRecords]
    /// Where the app's customers came from, if the run took its customers from notifications; otherwise `nil`.
    package let sources: CustomerSources?

    package var exitStatus: ExitStatus {
        viewsFailure == nil ? ExitStatus(rawValue: summary.exitCode) ?? .bug : .completeWithLosses
    }
}
