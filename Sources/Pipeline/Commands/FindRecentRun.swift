package import Ledger

extension Pipeline {
    /// The newest complete run of the job, if it began less than `limit` ago and no run is unfinished.
    package func recentRun(within limit: Duration) async throws -> RecentRun? {
        try await openLedger()
        guard let app = try await knownApp() else { return nil }
        let plan = RunPlan(job: job, app: app, now: try await ledger.now(), restart: false, version: version)
        return try await ledger.recentRun(plan, within: limit)
    }
}
