package import Basics
package import LedgerSchema
import Postgres
import SignedData

/// The origin of an app's records: the server, and the root certificates under which the records must be signed.
package struct RecordOrigin: Equatable, Sendable {
    /// The value of `appStore.baseURL`.
    package let server: String
    /// SHA-256 of each root certificate, hexadecimal, sorted.
    package let trustedRoots: [String]

    package init(server: String, trustedRoots: [String]) {
        self.server = server
        self.trustedRoots = trustedRoots.sorted()
    }

    /// Whether only Apple's built-in roots are trusted.
    package var isApple: Bool { AppleRootCA.fingerprints.isSuperset(of: trustedRoots) }

    /// Whether one app may have records of both origins: with the same roots, or both with Apple's roots.
    package func mayShareAnApp(with other: RecordOrigin) -> Bool {
        trustedRoots == other.trustedRoots || isApple && other.isApple
    }
}

/// The app has records that are signed under another root than those that the job trusts.
package struct OtherOrigin: ExplainedError, Equatable, Sendable, CustomStringConvertible {
    package let bundleId: String
    package let environment: String
    /// The origin of the app's records; its server is empty if only a replay has loaded records.
    package let found: RecordOrigin
    package let job: RecordOrigin

    package init(bundleId: String, environment: String, found: RecordOrigin, job: RecordOrigin) {
        self.bundleId = bundleId
        self.environment = environment
        self.found = found
        self.job = job
    }

    package var description: String {
        let server = found.server.isEmpty ? "" : " of \(found.server)"
        return
            "the ledger's \(bundleId) (\(environment)) has records\(server) under \(Self.roots(of: found)), but this job sends requests to "
            + "\(job.server) and trusts \(Self.roots(of: job)). Nothing was sent or written. \(remedy)"
    }

    private var remedy: String {
        if job.isApple {
            return
                "The ledger's records are of a rehearsal: give the real app another database or another schema "
                + "(output.postgres.schema)"
        }
        return
            "Unset appStore.baseURL and trustedRoots (APPSTORE_BASE_URL, APPSTORE_TRUSTED_ROOT) if they are left from a "
            + "rehearsal; give a rehearsal another schema (output.postgres.schema), another database, or another bundle ID"
    }

    private static func roots(of origin: RecordOrigin) -> String {
        "root \(origin.trustedRoots.joined(separator: " and "))\(origin.isApple ? " (Apple's)" : "")"
    }

    package var status: ExitStatus { .configuration }
}

extension Ledger {
    /// Checks that each app may take records of its origin; changes nothing.
    ///
    /// - Throws: ``OtherOrigin``, ``Postgres/PostgresError``.
    package func check(_ origins: [AppID: RecordOrigin]) async throws {
        try await transaction { connection in
            for (app, origin) in origins.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                try StoredOrigin(of: app, isLocked: false, on: connection).refuseOther(origin, on: connection)
            }
        }
    }

    /// Stores the origin of each app's records, for all apps or none.
    ///
    /// Writes nothing if nothing has changed.
    ///
    /// - Parameters:
    ///   - origins: By app.
    ///   - asksServer: Whether records are requested from the server; false for a replay.
    /// - Returns: Messages for the user.
    /// - Throws: ``OtherOrigin``, ``Postgres/PostgresError``.
    package func claim(_ origins: [AppID: RecordOrigin], asksServer: Bool) async throws -> [String] {
        try await transaction { connection in
            var remarks: [String] = []
            for (app, origin) in origins.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let server = asksServer ? origin.server : nil
                guard try StoredOrigin(of: app, isLocked: false, on: connection).differs(from: origin, server: server)
                else { continue }
                let stored = try StoredOrigin(of: app, isLocked: asksServer, on: connection)
                try stored.refuseOther(origin, on: connection)
                if stored.trustedRoots == nil, !origin.isApple, try stored.holdsRecords(on: connection) {
                    remarks.append(
                        "\(stored.bundleId) (\(stored.environment)) has records of unknown origin from an earlier version; "
                            + "from now on it accepts only records under root \(origin.trustedRoots.joined(separator: " and "))"
                    )
                }
                guard let server else {
                    // A receiver may fill in the roots of an app, but not change the roots of its records.
                    _ = try connection.run(
                        "SELECT add_app($1::text, $2::text, NULL, $3::text[])",
                        [.text(stored.bundleId), .text(stored.environment), .textArray(origin.trustedRoots)]
                    )
                    continue
                }
                _ = try connection.run(
                    "UPDATE apps SET trusted_roots = $2, server = $3 WHERE app_id = $1",
                    [.integer(app.rawValue), .textArray(origin.trustedRoots), .text(server)]
                )
            }
            return remarks
        }
    }
}

/// The stored origin of an app's records.
private struct StoredOrigin {
    let app: AppID
    let bundleId: String
    let environment: String
    let server: String?
    /// `nil` if the app has no records, or only records that are older than this column.
    let trustedRoots: [String]?

    /// - Parameters:
    ///   - isLocked: Whether to lock the row until the transaction ends.
    ///   - connection: Inside a transaction.
    /// - Throws: ``Postgres/PostgresError``.
    init(of app: AppID, isLocked: Bool, on connection: borrowing PostgresConnection) throws {
        let rows = try connection.run(
            """
            SELECT bundle_id, environment, server, array_to_string(trusted_roots, ',') AS roots FROM apps WHERE app_id = $1
            \(isLocked ? "FOR NO KEY UPDATE" : "")
            """,
            [.integer(app.rawValue)]
        )
        guard let row = rows.first else { throw LedgerError.invariant("the app row vanished") }
        self.app = app
        bundleId = try row.text("bundle_id")
        environment = try row.text("environment")
        server = try row.textOrNil("server")
        trustedRoots = try row.textOrNil("roots")?.split(separator: ",").map(String.init)
    }

    func differs(from origin: RecordOrigin, server: String?) -> Bool {
        trustedRoots != origin.trustedRoots || server != nil && server != self.server
    }

    /// Refuses a root that differs from the root of the app's records, unless the app has no records.
    func refuseOther(_ origin: RecordOrigin, on connection: borrowing PostgresConnection) throws {
        guard let trustedRoots else { return }
        let found = RecordOrigin(server: server ?? "", trustedRoots: trustedRoots)
        guard !found.mayShareAnApp(with: origin), try holdsRecords(on: connection) else { return }
        throw OtherOrigin(bundleId: bundleId, environment: environment, found: found, job: origin)
    }

    /// Whether the app has records, or items with progress.
    func holdsRecords(on connection: borrowing PostgresConnection) throws(PostgresError) -> Bool {
        try connection.run("SELECT app_has_records($1::integer) AS holds", [.integer(app.rawValue)])[0].bool("holds")
    }
}
