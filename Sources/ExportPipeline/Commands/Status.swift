import AppStoreModel
import JobPlan
package import Ledger

extension ExportPipeline {
    /// How the job stands; read from the ledger alone.
    ///
    /// - Returns: `nil` when the job never ran.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func status() async throws -> JobStatus? {
        try await openLedger()
        guard let app = try await knownApp() else { return nil }
        let status = try await ledger.status(
            of: job.name,
            app: app,
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue
        )
        return status.runs.isEmpty ? nil : status
    }

    /// For each ID and window of the job: until when its history is complete, and the gaps.
    ///
    /// - Parameter line: Called for each item in the order of streams and keys.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func coverage(_ line: @escaping @Sendable (ItemCoverage) -> Void) async throws {
        try await openLedger()
        guard let app = try await knownApp() else { return }
        try await ledger.coverage(of: job.name, app: app, line)
    }

    func knownApp() async throws -> AppID? {
        try await ledger.knownApp(bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
    }

    /// The app in every environment the job has records of.
    func knownApps() async throws -> [(app: AppID, environment: AppStoreEnvironment)] {
        var apps: [(app: AppID, environment: AppStoreEnvironment)] = []
        for environment in [job.app.environment] + (job.appStore.triesSandbox ? [.sandbox] : []) {
            guard
                let app = try await ledger.knownApp(
                    bundleId: job.app.bundleId,
                    environment: environment.rawValue
                )
            else { continue }
            apps.append((app, environment))
        }
        return apps
    }
}
