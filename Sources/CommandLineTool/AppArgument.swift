import AppStoreModel
import ArgumentParser
import Basics
import JobPlan
import Ledger
import Pipeline

/// The ledger, app and job of a command that reads, from a job file or from the options.
struct AppArgument: ParsableArguments {
    @OptionGroup var ledger: LedgerArgument

    @Option(
        help: ArgumentHelp("Without JOB: the app's bundle ID (default: the ledger's only app).", valueName: "BUNDLE_ID")
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
        [("--app", app), ("--environment", environment), ("--job", jobName)].first { $0.1 != nil }?.0
    }

    /// Where a command reads.
    enum Source {
        case job(Pipeline)
        case ledger(LedgerReader)
    }

    /// Reads the job file, if one is named, and shows its warnings; does not connect yet.
    func source() throws -> Source {
        if let path = ledger.path {
            return .job(try JobArgument(path: path).pipeline())
        }
        return .ledger(try reader())
    }

    func reader() throws -> LedgerReader { LedgerReader(try ledger.address(), version: storeLedgerVersion) }

    /// Every app that the options admit.
    func apps(in reader: LedgerReader) async throws -> [KnownApp] {
        try await reader.apps(bundleId: app, environment: environment.flatMap(AppStoreEnvironment.init))
    }

    /// The one app and job that the options name: without `--job`, the job that ran last.
    func appAndJob(in reader: LedgerReader) async throws -> (app: KnownApp, job: String) {
        let environment = environment.flatMap(AppStoreEnvironment.init)
        let chosen = try await reader.app(bundleId: app, environment: environment)
        guard let job = try await reader.jobs(of: chosen, named: jobName).first else {
            throw JobNotFound(name: nil, app: chosen, known: [])
        }
        return (chosen, job)
    }
}
