import AppStoreModel
import HTTPTransport
package import JobPlan
package import Ledger
import LedgerSchema
import Postgres

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

    /// A ledger for reading.
    ///
    /// It connects at the first use, and again after a lost connection.
    ///
    /// - Parameters:
    ///   - url: The ledger's database.
    ///   - schema: The ledger's schema.
    ///   - applicationName: The sessions' `application_name`.
    ///   - databaseDeadline: How long to wait for PostgreSQL.
    /// - Returns: The ledger, not yet connected.
    package static func ledgerToRead(
        at url: DatabaseURL,
        schema: String,
        applicationName: String = "storeledger",
        databaseDeadline: Duration
    ) -> Ledger {
        Ledger.toRead(at: url, schema: schema, applicationName: applicationName, databaseDeadline: databaseDeadline)
    }

    /// The status of every job of every app in a ledger, by app and name; needs no job file.
    ///
    /// - Parameter ledger: Its connections stay open for the next call.
    /// - Returns: An empty array if no job has run in the ledger.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package static func statusOfEveryJob(in ledger: Ledger) async throws -> [JobStatus] {
        try await ledger.open()
        var statuses: [JobStatus] = []
        for app in try await ledger.knownApps() {
            for job in try await ledger.jobs(of: app.id) {
                statuses.append(
                    try await ledger.status(
                        of: job,
                        app: app.id,
                        bundleId: app.bundleId,
                        environment: app.environment
                    )
                )
            }
        }
        return statuses
    }

    /// Lists, for each ID and window of the job, the time up to which its history is complete, and the gaps.
    ///
    /// - Parameter line: Called for each item, by stream and key.
    /// - Returns: Whether the job has ever run.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func coverage(_ line: @escaping @Sendable (ItemCoverage) -> Void) async throws -> Bool {
        try await openLedger()
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else { return false }
        try await ledger.coverage(of: job.name, app: app, line)
        return true
    }

    func knownApp() async throws -> AppID? {
        try await ledger.knownApp(bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
    }

    /// The app in every environment in which the job has records.
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

extension Ledger {
    /// A connected ledger for reading, with a schema that this version supports.
    static func opened(
        at url: DatabaseURL,
        schema: String,
        applicationName: String,
        databaseDeadline: Duration
    ) async throws -> Ledger {
        let ledger = toRead(
            at: url,
            schema: schema,
            applicationName: applicationName,
            databaseDeadline: databaseDeadline
        )
        try await ledger.open()
        return ledger
    }

    static func toRead(
        at url: DatabaseURL,
        schema: String,
        applicationName: String,
        databaseDeadline: Duration
    ) -> Ledger {
        Ledger(
            conninfo: url.connectionString(applicationName: applicationName),
            schema: schema,
            sessions: 1,
            deadline: databaseDeadline
        )
    }

    /// Connects, and checks that this version supports the schema.
    func open() async throws {
        try await connect()
        try await Migrator(ledger: self, directory: try SQLDirectory.find()).check()
    }
}

extension DatabaseURL {
    func connectionString(applicationName: String) -> ConnectionString {
        ConnectionString(reveal(), systemRoots: CertificateBundle.system, applicationName: applicationName)
    }
}
