import AppStoreModel
import HTTPTransport
package import JobPlan
package import Ledger
import Postgres

extension Pipeline {
    /// How the job stands; read from the ledger alone.
    ///
    /// - Parameter limit: How long to wait for PostgreSQL, in place of the usual deadline.
    /// - Returns: `nil` when the job never ran.
    /// - Throws: What ``Failure/init(_:)`` explains.
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

    /// A ledger to read from, which connects at its first use and again when a connection was lost.
    ///
    /// - Parameters:
    ///   - url: The ledger's database.
    ///   - schema: The ledger's schema.
    ///   - applicationName: What sessions call themselves.
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

    /// How every job of every app in a ledger stands, by app and name; no job file is needed.
    ///
    /// - Parameter ledger: Its connections are kept for the next time.
    /// - Returns: Nothing for a ledger in which no job ever ran.
    /// - Throws: What ``Failure/init(_:)`` explains.
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

    /// For each ID and window of the job: until when its history is complete, and the gaps.
    ///
    /// - Parameter line: Called for each item in the order of streams and keys.
    /// - Returns: Whether the job ever ran.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func coverage(_ line: @escaping @Sendable (ItemCoverage) -> Void) async throws -> Bool {
        try await openLedger()
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else { return false }
        try await ledger.coverage(of: job.name, app: app, line)
        return true
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

extension Ledger {
    /// A ledger to read from, connected and of a schema this version knows.
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
            deadline: databaseDeadline,
            isForReading: true
        )
    }

    /// Connects, and makes sure the schema is the one this version knows.
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
