package import AppStoreModel
import JobFiles
import Ledger
package import LedgerSchema

extension Pipeline {
    /// The job's app; the first job of an app creates it.
    package func ownApp() async throws -> AppID {
        try await ledger.app(
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            appAppleId: job.app.appAppleId
        )
    }

    /// Compares the job's app with the ledger, and changes nothing.
    ///
    /// - Throws: ``Ledger/LedgerError/appMismatch(found:job:)``, as ``ownApp()`` does.
    package func checkKnownApp() async throws {
        try await ledger.checkApp(
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            appAppleId: job.app.appAppleId
        )
    }

    func sandboxApp() async throws -> AppID {
        try await ledger.app(
            bundleId: job.app.bundleId,
            environment: AppStoreEnvironment.sandbox.rawValue,
            appAppleId: nil
        )
    }

    /// The job's app; `nil` if the ledger does not know it.
    package func knownApp() async throws -> AppID? {
        try await ledger.knownApp(bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
    }

    /// The app in every environment in which the job has records.
    package func knownApps() async throws -> [(app: AppID, environment: AppStoreEnvironment)] {
        var apps: [(app: AppID, environment: AppStoreEnvironment)] = []
        for environment in [job.app.environment] + (job.appStore.triesSandbox ? [.sandbox] : []) {
            let app = try await ledger.knownApp(bundleId: job.app.bundleId, environment: environment.rawValue)
            if let app { apps.append((app, environment)) }
        }
        return apps
    }
}
