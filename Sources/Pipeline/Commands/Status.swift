import AppStoreModel
import JobPlan
package import Ledger
import LedgerSchema

extension Pipeline {
    /// The job's status, read only from the ledger.
    ///
    /// - Parameter limit: How long to wait for PostgreSQL; replaces the usual deadline.
    /// - Returns: `nil` if the job has never run.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func status(within limit: Duration? = nil) async throws -> JobStatus? {
        if let limit { try await ledger.connect(within: limit) }
        try await openLedger()
        guard let app = try await knownApp() else { return nil }
        let status = try await ledger.status(
            of: job.name,
            app: app,
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            plan: RunPlan(job: job, app: app, now: try await ledger.now(), restart: false, version: version)
        )
        return status.runs.isEmpty ? nil : status
    }

    /// Lists, for each ID and window of the job, the time up to which its history is complete, and the gaps.
    ///
    /// - Parameter line: Called for each item, in the order of stream and key, until it returns false.
    /// - Returns: Whether the job has ever run.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func coverage(_ line: @escaping @Sendable (ItemCoverage) -> Bool) async throws -> Bool {
        try await openLedger()
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else { return false }
        try await ledger.coverage(of: job.name, app: app, line)
        return true
    }

    /// Summarises until when each stream of the job is complete.
    ///
    /// - Returns: `nil` if the job has never run.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func coverageSummary() async throws -> [StreamCoverage]? {
        try await openLedger()
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else { return nil }
        let known = KnownApp(id: app, bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
        return try await ledger.coverageSummary(of: job.name, app: known)
    }

    func knownApp() async throws -> AppID? {
        try await ledger.knownApp(bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
    }

    /// The app in every environment in which the job has records.
    func knownApps() async throws -> [(app: AppID, environment: AppStoreEnvironment)] {
        var apps: [(app: AppID, environment: AppStoreEnvironment)] = []
        for environment in [job.app.environment] + (job.appStore.triesSandbox ? [.sandbox] : []) {
            let app = try await ledger.knownApp(bundleId: job.app.bundleId, environment: environment.rawValue)
            if let app { apps.append((app, environment)) }
        }
        return apps
    }
}
