import AppStoreModel
import ArgumentParser
import Basics
import Ledger
import Pipeline

/// The ledger, app and job of a command that reads, from a job file or from the options.
struct AppArgument: ParsableArguments {
    @OptionGroup var ledger: LedgerArgument

    @Option(
        help: ArgumentHelp("Only this app of JOB or of the ledger.", valueName: "BUNDLE_ID")
    )
    var app: String?

    @Option(help: ArgumentHelp("Without JOB: Production or Sandbox.", valueName: "NAME"))
    var environment: String?

    @Option(name: .customLong("job"), help: ArgumentHelp("Without JOB: the job's name.", valueName: "NAME"))
    var jobName: String?

    func validate() throws {
        if ledger.path != nil, let option = usedOption {
            throw ValidationError("Use \(option) only without JOB: the job file has its own.")
        }
        if let environment, AppStoreEnvironment(rawValue: environment) == nil {
            throw ValidationError("--environment is \(environment); it must be Production or Sandbox.")
        }
    }

    private var usedOption: String? {
        [("--environment", environment), ("--job", jobName)].first { $0.1 != nil }?.0
    }

    /// Where a command reads.
    enum Source {
        /// The pipeline of each app of a job file, which share a ledger.
        case jobs(JobArgument, [Pipeline])
        case ledger(Ledger)
    }

    /// The job file with `--app`; `nil` if none is named.
    var job: JobArgument? { ledger.path.map { JobArgument(path: $0, app: app) } }

    /// Reads the job file, if one is named, and shows its warnings; does not connect yet.
    func source() throws -> Source {
        if let job { return .jobs(job, try job.pipelines()) }
        return .ledger(try ledger.address().ledger())
    }

    /// Opens the ledger, and finds the apps that the options admit.
    ///
    /// - Returns: By bundle ID and environment; empty only without options in a ledger without an app.
    /// - Throws: ``AppNotChosen`` if none matches.
    func apps(in ledger: Ledger) async throws -> [KnownApp] {
        try await ledger.open()
        let known = try await ledger.appsInUse()
        let matching = known.filter {
            $0.bundleId == app ?? $0.bundleId && $0.environment == environment ?? $0.environment
        }
        guard !matching.isEmpty || app == nil && environment == nil else { throw AppNotChosen(known: known) }
        return matching
    }

    /// The one app and job that the options name.
    ///
    /// Without `--app`, the ledger's only app, or the only one with records; without `--environment`, Production, or Sandbox if
    /// the app is only there; without `--job`, the job that ran last.
    ///
    /// - Throws: ``AppNotChosen``, ``JobNotFound``.
    func appAndJob(in ledger: Ledger) async throws -> (app: KnownApp, job: String) {
        var matching = try await apps(in: ledger)
        if Set(matching.map(\.bundleId)).count > 1 {
            let loaded = try await ledger.withRecords(matching)
            if !loaded.isEmpty { matching = loaded }
        }
        guard let first = matching.first, matching.allSatisfy({ $0.bundleId == first.bundleId }) else {
            throw AppNotChosen(known: matching)
        }
        let chosen = matching.first { $0.environment == AppStoreEnvironment.production.rawValue } ?? first
        guard let job = try await jobs(of: chosen, in: ledger).first else {
            throw JobNotFound(name: nil, app: chosen, known: [])
        }
        return (chosen, job)
    }

    /// Every app that the options admit and that a job has read, with the job that ran last.
    ///
    /// - Throws: ``AppNotChosen`` if there is none.
    func everyAppAndJob(in ledger: Ledger) async throws -> [(app: KnownApp, job: String)] {
        var found: [(app: KnownApp, job: String)] = []
        for app in try await apps(in: ledger) {
            if let job = try await jobs(of: app, in: ledger).first { found.append((app, job)) }
        }
        guard !found.isEmpty else { throw AppNotChosen(known: try await ledger.appsInUse()) }
        return found
    }

    /// The jobs of an app, or only the one of `--job`; the one whose last run began last is first.
    func jobs(of app: KnownApp, in ledger: Ledger) async throws -> [String] {
        let jobs = try await ledger.jobs(of: app.id)
        guard let jobName else { return jobs }
        guard jobs.contains(jobName) else { throw JobNotFound(name: jobName, app: app, known: jobs.sorted()) }
        return [jobName]
    }
}
