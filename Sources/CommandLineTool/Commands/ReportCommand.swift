import AppStoreModel
import ArgumentParser
import Basics
import JobFiles
import Ledger
import Pipeline
import Publish
import Report

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write one HTML page with charts: revenue, subscriptions, retention, refunds, deliveries, runs.",
        discussion: """
            The page needs no network and no other file. A reader can filter and compare
            its figures. It shows totals, not single customers. The analyst role is
            sufficient.

              storeledger report jobs/nightly-sync.yaml --output report.html
              storeledger report --app com.example.game --output - \\
                --database postgresql:///ledger > report.html
              storeledger report --all-apps --output apps.html \\
                --database postgresql:///ledger
            """
    )

    @OptionGroup var place: AppArgument

    @Flag(help: "Without JOB: one page for every app of the ledger that a job has read.")
    var allApps = false

    @Option(
        help: ArgumentHelp(
            "The page; replaces an existing one when it is complete. - is stdout.",
            valueName: "FILE"
        )
    )
    var output: String

    func run() async throws {
        try await perform(job: place.ledger.path, onlyReads: true) {
            let ledger: Ledger
            let subjects: [ReportSubject]
            switch try place.source() {
            case .jobs(_, let pipelines):
                ledger = pipelines[0].ledger
                try await ledger.open()
                subjects = pipelines.map(\.job).map { job in
                    ReportSubject(
                        bundleId: job.app.bundleId,
                        environment: job.app.environment.rawValue,
                        job: job.name
                    )
                }
            case .ledger(let opened):
                ledger = opened
                subjects = try await allApps ? everyApp(in: opened) : [chosenApp(in: opened)]
            }
            let report = try await ledger.report(of: subjects, version: storeLedgerVersion)
            let job = subjects.map(\.job).joined(separator: ", ")
            let remark = report.hasRun ? nil : "\(job) has never run"
            if output == "-" {
                Console.result(report.page)
                if let remark { Console.message(remark) }
            } else {
                try publishFile(report.page, at: output)
                Console.result("\(output): \(report.page.count) bytes" + (remark.map { "; \($0)" } ?? ""))
            }
        }
    }

    func validate() throws {
        if allApps, place.ledger.path != nil || place.app != nil || place.jobName != nil {
            throw ValidationError("Use --all-apps without JOB, --app and --job: it shows every app.")
        }
    }

    private func chosenApp(in ledger: Ledger) async throws -> ReportSubject {
        let (app, job) = try await place.appAndJob(in: ledger)
        return ReportSubject(bundleId: app.bundleId, environment: app.environment, job: job)
    }

    /// Every app in one environment, Production if none is named, with the job that ran last.
    private func everyApp(in ledger: Ledger) async throws -> [ReportSubject] {
        let environment = place.environment ?? AppStoreEnvironment.production.rawValue
        let subjects = try await place.everyAppAndJob(in: ledger).filter { $0.app.environment == environment }.map {
            ReportSubject(bundleId: $0.app.bundleId, environment: $0.app.environment, job: $0.job)
        }
        guard !subjects.isEmpty else { throw AppNotChosen(known: try await ledger.appsInUse()) }
        return subjects
    }
}
