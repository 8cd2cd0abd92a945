package import AppStoreModel
package import Ledger

/// A started or joined run.
package struct StartedRun: Sendable {
    package let run: Int64
    /// The `now` of the run, possibly set by an earlier process.
    package let now: UnixMilliseconds
    package let joined: Bool
    /// Whether the run was started with `--restart`.
    package let restarted: Bool
    package var listedIDs: Int64 = 0
    package var duplicateIDs: Int64 = 0
    /// The number of listed IDs of erased customers.
    package var withheldIDs: Int64 = 0
    /// Messages for the user, such as changed filters and gaps.
    package var remarks: [String] = []
}

extension RunPlan {
    /// The plan with the stored `now` and restart of the started or joined run.
    package func frozen(as start: StartedRun) -> RunPlan {
        var plan = RunPlan(
            job: job,
            app: app,
            now: start.now,
            restart: start.restarted,
            version: version,
            trustedRoots: trustedRoots
        )
        plan.latestNow = latestNow
        plan.jobFile = jobFile
        plan.lockTimeout = lockTimeout
        return plan
    }
}
