package import Basics
package import Ledger

/// What a job does.
package enum JobKind: String, Sendable {
    case action, crawl
}

/// Why a job was not removed.
package enum JobNotRemoved: ExplainedError, Equatable, Sendable {
    /// No app of the ledger has a job of this name.
    case unknown(job: String)
    /// Several apps have one; each is written as bundle ID and environment.
    case ambiguous(job: String, apps: [String])
    /// A process has leased items of the job.
    case running(job: String)

    package var status: ExitStatus {
        switch self {
        case .unknown, .ambiguous: .badInput
        case .running: .workLeft
        }
    }

    package var sentence: String {
        switch self {
        case .unknown(let job): "the ledger has no job \(job); storeledger jobs lists them"
        case .ambiguous(let job, let apps):
            "\(apps.count) apps have a job \(job): \(apps.joined(separator: ", ")). Name one with --app and --environment"
        case .running(let job): "\(job) is running, so it was not removed. Stop its process and try again"
        }
    }
}

extension Pipeline {
    /// The jobs of every app of a ledger; needs no job file.
    package static func jobs(in ledger: Ledger) async throws -> [KnownJob] {
        try await ledger.open()
        return try await ledger.knownJobs()
    }

    /// Forgets a job, and keeps every record; needs no job file.
    ///
    /// Of a crawl, it forgets crawl state, gaps and counted rejects; of an action, plans and rows that were never sent. If both have the name,
    /// both are forgotten.
    ///
    /// - Parameters:
    ///   - bundleId: The bundle ID of its app; `nil` if only one app has a job of this name.
    ///   - environment: The environment of its app; `nil` for any.
    /// - Returns: The app of the job, and whether a crawl and an action were forgotten.
    /// - Throws: ``JobNotRemoved``, and errors that ``Failure/init(_:)`` explains.
    package static func removeJob(
        _ name: String,
        ofApp bundleId: String?,
        environment: String?,
        in ledger: Ledger
    ) async throws -> (app: KnownApp, kinds: Set<JobKind>) {
        try await ledger.openToWrite()
        let jobs = try await ledger.knownJobs().filter { $0.job == name }
        let apps = try await ledger.knownApps().filter { app in
            bundleId.map { $0 == app.bundleId } ?? true && environment.map { $0 == app.environment } ?? true
                && jobs.contains { $0.app == app.bundleId && $0.environment == app.environment }
        }
        guard let app = apps.first else { throw JobNotRemoved.unknown(job: name) }
        guard apps.count == 1 else {
            throw JobNotRemoved.ambiguous(job: name, apps: apps.map { "\($0.bundleId) (\($0.environment))" })
        }
        let kinds = Set(
            jobs.filter { $0.app == app.bundleId && $0.environment == app.environment }
                .map { $0.action == nil ? JobKind.crawl : .action }
        )
        // The crawl first: the role for crawls may not forget an action, and its refusal ends the command.
        for kind in kinds.sorted(by: { $0.rawValue > $1.rawValue }) {
            let removal =
                switch kind {
                case .action: try await ledger.forgetActions(name, of: app.id)
                case .crawl: try await ledger.forget(name, of: app.id)
                }
            switch removal {
            case .removed: continue
            case .running: throw JobNotRemoved.running(job: name)
            case .unknown: throw JobNotRemoved.unknown(job: name)
            }
        }
        return (app, kinds)
    }
}
