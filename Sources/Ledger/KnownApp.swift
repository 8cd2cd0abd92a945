package import LedgerSchema
import Postgres

/// One app in one environment of this ledger.
package struct KnownApp: Sendable, Equatable {
    package let id: AppID
    package let bundleId: String
    package let environment: String

    package init(id: AppID, bundleId: String, environment: String) {
        self.id = id
        self.bundleId = bundleId
        self.environment = environment
    }
}

extension Ledger {
    /// Every app of the ledger, by bundle ID and environment.
    package func knownApps() async throws -> [KnownApp] {
        try await transaction { connection in
            let apps = try Readable(connection).first(of: "apps", "masked_apps")
            return try connection.run(
                "SELECT app_id, bundle_id, environment FROM \(apps) ORDER BY bundle_id, environment"
            )
            .map {
                KnownApp(
                    id: AppID(rawValue: try $0.int32("app_id")),
                    bundleId: try $0.text("bundle_id"),
                    environment: try $0.text("environment")
                )
            }
        }
    }

    /// The apps that have a job or records, by bundle ID and environment.
    ///
    /// A job file with a wrong bundle ID leaves an app without records, even after `jobs remove`.
    package func appsInUse() async throws -> [KnownApp] {
        let known = try await knownApps()
        let used = try await transaction { connection in
            let readable = try Readable(connection)
            return try connection.run(
                """
                SELECT a.app_id FROM \(readable.first(of: "apps", "masked_apps")) a
                 WHERE EXISTS (SELECT FROM \(readable.first(of: "runs", "masked_runs")) r WHERE r.app_id = a.app_id
                                  AND (r.job NOT LIKE '% (removed)' OR r.rows_new > 0))
                    OR EXISTS (SELECT FROM \(readable.first(of: "transactions", "masked_transactions")) t WHERE t.app_id = a.app_id)
                """
            ).map { AppID(rawValue: try $0.int32("app_id")) }
        }
        return known.filter { used.contains($0.id) }
    }

    /// The apps among `apps` that have a record.
    ///
    /// An app without one is most likely a mistake in the job file of a failed run.
    package func withRecords(_ apps: [KnownApp]) async throws -> [KnownApp] {
        let found = try await transaction { connection in
            let readable = try Readable(connection)
            let records = RecordKind.allCases.map { kind in
                let table = readable.first(of: kind.table.name, "masked_\(kind.table.name)")
                return "EXISTS (SELECT FROM \(table) r WHERE r.app_id = a.app_id)"
            }
            return try connection.run(
                "SELECT app_id FROM \(readable.first(of: "apps", "masked_apps")) a WHERE \(records.joined(separator: " OR "))"
            ).map { AppID(rawValue: try $0.int32("app_id")) }
        }
        return apps.filter { found.contains($0.id) }
    }

    /// The names of all jobs of an app that have run, without removed ones; the one whose last run began last is first.
    package func jobs(of app: AppID) async throws -> [String] {
        try await transaction { connection in
            let runs = try Readable(connection).first(of: "runs", "masked_runs")
            return try connection.run(
                """
                SELECT job FROM \(runs) WHERE app_id = $1 AND job NOT LIKE '% (removed)'
                 GROUP BY job ORDER BY max(run_id) DESC
                """,
                [.integer(app.rawValue)]
            ).map { try $0.text("job") }
        }
    }

    /// The roots under which the records of an app are signed, as SHA-256; empty if an earlier version loaded them.
    package func trustedRoots(of app: AppID) async throws -> [String] {
        try await transaction { connection in
            let apps = try Readable(connection).first(of: "apps", "masked_apps")
            return try connection.run(
                "SELECT coalesce(trusted_roots, '{}') AS roots FROM \(apps) WHERE app_id = $1",
                [.integer(app.rawValue)]
            ).first.map { try $0.textArray("roots") } ?? []
        }
    }
}
