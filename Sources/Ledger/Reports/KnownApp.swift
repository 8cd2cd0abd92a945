package import LedgerSchema
import Postgres

/// One app in one environment of this ledger.
package struct KnownApp: Sendable, Equatable {
    package let id: AppID
    package let bundleId: String
    package let environment: String
}

extension Ledger {
    /// Every app of the ledger, by bundle ID and environment.
    package func knownApps() async throws -> [KnownApp] {
        try await transaction { connection in
            try connection.run("SELECT app_id, bundle_id, environment FROM apps ORDER BY bundle_id, environment").map {
                KnownApp(
                    id: AppID(rawValue: try $0.int32("app_id")),
                    bundleId: try $0.text("bundle_id"),
                    environment: try $0.text("environment")
                )
            }
        }
    }
}
