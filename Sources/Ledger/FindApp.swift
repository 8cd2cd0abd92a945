package import LedgerSchema
import Postgres

extension Ledger {
    /// The app's number.
    ///
    /// The first job of an app creates it.
    ///
    /// - Throws: ``LedgerError/appMismatch(found:job:)`` when the ledger has another Apple ID for the bundle.
    package func app(bundleId: String, environment: String, appAppleId: Int64?) async throws -> AppID {
        try await transaction { connection in
            let known = try Self.findApp(connection, bundleId: bundleId, environment: environment)
            if let known, appAppleId == nil || appAppleId == known.appleID { return known.id }
            _ = try connection.run(
                """
                INSERT INTO apps AS a (bundle_id, environment, app_apple_id) VALUES ($1, $2, $3)
                ON CONFLICT (bundle_id, environment) DO UPDATE SET app_apple_id = excluded.app_apple_id
                 WHERE a.app_apple_id IS NULL AND excluded.app_apple_id IS NOT NULL
                """,
                [.text(bundleId), .text(environment), appAppleId.map(Cell.bigint) ?? .null]
            )
            guard let app = try Self.findApp(connection, bundleId: bundleId, environment: environment) else {
                throw LedgerError.invariant("the app row vanished")
            }
            try Self.compare(app.appleID, with: appAppleId)
            return app.id
        }
    }

    /// Compares the app with the ledger, if the ledger knows it; changes nothing.
    ///
    /// - Throws: ``LedgerError/appMismatch(found:job:)`` when the ledger has another Apple ID for the bundle.
    package func checkApp(bundleId: String, environment: String, appAppleId: Int64?) async throws {
        try await transaction { connection in
            let known = try Self.findApp(connection, bundleId: bundleId, environment: environment)
            try Self.compare(known?.appleID, with: appAppleId)
        }
    }

    private static func compare(_ found: Int64?, with job: Int64?) throws {
        if let found, let job, found != job { throw LedgerError.appMismatch(found: found, job: job) }
    }

    /// The app's number, or `nil` if no job of the app has ever run; changes nothing.
    package func knownApp(bundleId: String, environment: String) async throws -> AppID? {
        try await transaction { connection in
            let apps = try Readable(connection).first(of: "apps", "masked_apps")
            return try Self.findApp(connection, in: apps, bundleId: bundleId, environment: environment)?.id
        }
    }

    private static func findApp(
        _ connection: borrowing PostgresConnection,
        in apps: String = "apps",
        bundleId: String,
        environment: String
    ) throws -> (id: AppID, appleID: Int64?)? {
        let rows = try connection.run(
            "SELECT app_id, app_apple_id FROM \(apps) WHERE bundle_id = $1 AND environment = $2",
            [.text(bundleId), .text(environment)]
        )
        guard rows.count == 1 else { return nil }
        return (AppID(rawValue: Int32(try rows[0].int64("app_id"))), try rows[0].int64OrNil("app_apple_id"))
    }
}
