package import AppStoreModel
package import Basics
package import JobPlan
package import Ledger
package import Publish
package import Report

/// Reads a ledger for commands without a job file: they need only the database and the app.
package struct LedgerReader: Sendable {
    package let ledger: Ledger
    private let version: String

    /// Makes the reader; it connects at the first use, and again after a lost connection.
    ///
    /// - Parameters:
    ///   - applicationName: The sessions' `application_name`.
    ///   - databaseDeadline: How long to wait for PostgreSQL.
    ///   - waiting: Called with PostgreSQL's message while no session can be opened.
    package init(
        url: DatabaseURL,
        schema: String,
        version: String,
        applicationName: String = "storeledger",
        databaseDeadline: Duration,
        waiting: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        ledger = Ledger.toRead(
            at: url,
            schema: schema,
            applicationName: applicationName,
            databaseDeadline: databaseDeadline,
            waiting: waiting
        )
        self.version = version
    }

    /// The apps that a command is about.
    ///
    /// - Parameters:
    ///   - bundleId: `nil` for every app.
    ///   - environment: `nil` for both.
    /// - Returns: By bundle ID and environment; empty only if both are `nil` and the ledger has no app.
    /// - Throws: ``AppNotChosen`` if none matches; errors that ``Failure/init(_:)`` explains.
    package func apps(bundleId: String?, environment: AppStoreEnvironment?) async throws -> [KnownApp] {
        try await ledger.open()
        let known = try await ledger.appsInUse()
        let matching = known.filter {
            $0.bundleId == bundleId ?? $0.bundleId && $0.environment == environment?.rawValue ?? $0.environment
        }
        guard !matching.isEmpty || bundleId == nil && environment == nil else { throw AppNotChosen(known: known) }
        return matching
    }

    /// The one app that a command is about.
    ///
    /// - Parameters:
    ///   - bundleId: Can be `nil` if the ledger has one app, or records of one app.
    ///   - environment: `nil` for Production, or for Sandbox if the app is only there.
    /// - Throws: ``AppNotChosen``; errors that ``Failure/init(_:)`` explains.
    package func app(bundleId: String?, environment: AppStoreEnvironment?) async throws -> KnownApp {
        var matching = try await apps(bundleId: bundleId, environment: environment)
        if Set(matching.map(\.bundleId)).count > 1 {
            let loaded = try await ledger.withRecords(matching)
            if !loaded.isEmpty { matching = loaded }
        }
        guard let first = matching.first, matching.allSatisfy({ $0.bundleId == first.bundleId }) else {
            throw AppNotChosen(known: matching)
        }
        return matching.first { $0.environment == AppStoreEnvironment.production.rawValue } ?? first
    }

    /// The jobs of an app, or only the one called `name`; the one whose last run began last is first.
    ///
    /// Throws ``JobNotFound`` and errors that ``Failure/init(_:)`` explains.
    package func jobs(of app: KnownApp, named name: String?) async throws -> [String] {
        let jobs = try await ledger.jobs(of: app.id)
        guard let name else { return jobs }
        guard jobs.contains(name) else { throw JobNotFound(name: name, app: app, known: jobs.sorted()) }
        return [name]
    }

    /// The status of every job of apps, by app and name.
    package func statuses(of apps: [KnownApp], job: String?) async throws -> [JobStatus] {
        var statuses: [JobStatus] = []
        for app in apps {
            for name in try await jobs(of: app, named: job).sorted() {
                statuses.append(
                    try await ledger.status(
                        of: name,
                        app: app.id,
                        bundleId: app.bundleId,
                        environment: app.environment
                    )
                )
            }
        }
        return statuses
    }

    /// The report of a job of an app, as one HTML page.
    package func report(of job: String, app: KnownApp) async throws -> ReportDocument {
        let library = try ChartLibrary.find()
        return try await ledger.report(
            of: job,
            bundleId: app.bundleId,
            environment: app.environment,
            library: library,
            version: version
        )
    }

    /// Publishes files of an app.
    ///
    /// - Parameters:
    ///   - output: The format, the directory and the tables.
    ///   - job: The name in the manifest.
    package func export(_ output: FileOutput, job: String, app: KnownApp) async throws -> Manifest {
        let roots = try await ledger.trustedRoots(of: app.id)
        let order = PublishOrder(output, job: job, run: nil, trustedRoots: roots)
        return try await ledger.publish(order, of: app.id)
    }
}

/// A command is about one app, and its options do not say which.
package struct AppNotChosen: ExplainedError, CustomStringConvertible {
    /// The apps that come into question.
    let known: [KnownApp]

    package var description: String {
        guard !known.isEmpty else { return "the ledger has no app yet; storeledger run JOB adds the first" }
        let names = known.map { "\($0.bundleId) (\($0.environment))" }.joined(separator: ", ")
        return "choose an app of the ledger with --app and --environment: \(names)"
    }

    package var status: ExitStatus { .usage }
}

/// An app has no job with a name, or none at all.
package struct JobNotFound: ExplainedError, CustomStringConvertible {
    /// `nil` if any job would do.
    let name: String?
    let app: KnownApp
    let known: [String]

    package init(name: String?, app: KnownApp, known: [String]) {
        self.name = name
        self.app = app
        self.known = known
    }

    package var description: String {
        let place = "\(app.bundleId) (\(app.environment))"
        guard let name, !known.isEmpty else { return "no job of \(place) has ever run" }
        return "no job \(name) of \(place) has ever run; these have: \(known.joined(separator: ", "))"
    }

    package var status: ExitStatus { .usage }
}
