import AppStoreModel
import JobPlan
package import Ledger
package import LedgerSchema

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

    package func knownApp() async throws -> AppID? {
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
