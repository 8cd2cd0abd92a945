package import LedgerSchema
import Postgres

extension Ledger {
    /// The app's number.
    ///
    /// The first job of an app creates it. Until the app has a record, another Apple ID replaces the stored one, because
    /// the job file of a failed first run may have had a wrong one.
    ///
    /// - Throws: ``LedgerError/appMismatch(found:job:)`` when the ledger has records of the bundle under another Apple ID,
    ///   or a process is about to load some.
    package func app(bundleId: String, environment: String, appAppleId: Int64?) async throws -> AppID {
        try await transaction { connection in
            let known = try Self.findApp(connection, bundleId: bundleId, environment: environment)
            if let known, appAppleId == nil || appAppleId == known.appleID { return known.id }
            _ = try connection.run(
                "SELECT add_app($1::text, $2::text, $3::bigint, NULL)",
                [.text(bundleId), .text(environment), appAppleId.map(Cell.bigint) ?? .null]
            )
            guard let app = try Self.findApp(connection, bundleId: bundleId, environment: environment) else {
                throw LedgerError.invariant("the app row vanished")
            }
            if let found = app.appleID, let appAppleId, found != appAppleId {
                // The lock waits for pages that are being committed, so the next statement sees their records.
                _ = try connection.run("SELECT FROM apps WHERE app_id = $1 FOR UPDATE", [.integer(app.id.rawValue)])
                guard try Self.isReplaceable(app.id, on: connection) else {
                    throw LedgerError.appMismatch(found: found, job: appAppleId)
                }
                _ = try connection.run(
                    "UPDATE apps SET app_apple_id = $2 WHERE app_id = $1",
                    [.integer(app.id.rawValue), .bigint(appAppleId)]
                )
            }
            return app.id
        }
    }

    /// Compares the app with the ledger, if the ledger knows it; changes nothing.
    ///
    /// - Throws: ``LedgerError/appMismatch(found:job:)`` when ``app(bundleId:environment:appAppleId:)`` would throw it.
    package func checkApp(bundleId: String, environment: String, appAppleId: Int64?) async throws {
        try await transaction { connection in
            let known = try Self.findApp(connection, bundleId: bundleId, environment: environment)
            guard let known, let found = known.appleID, let appAppleId, found != appAppleId else { return }
            guard try Self.isReplaceable(known.id, on: connection) else {
                throw LedgerError.appMismatch(found: found, job: appAppleId)
            }
        }
    }

    /// Whether the app has no record of any kind, and no process works on a run of it.
    private static func isReplaceable(_ app: AppID, on connection: borrowing PostgresConnection) throws -> Bool {
        let tables = (Tables.snapshots + [Tables.signedPayloads]).map(\.name)
        let records = tables.map { "EXISTS (SELECT FROM \($0) WHERE app_id = $1)" }.joined(separator: " OR ")
        return try connection.run(
            """
            SELECT NOT (\(records)
                OR EXISTS (SELECT FROM run_processes WHERE app_id = $1 AND ended_at IS NULL
                              AND seen_at > clock_timestamp() - \(presence))) AS replaceable
            """,
            [.integer(app.rawValue)]
        )[0].bool("replaceable")
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
