import AppStoreModel
import ArgumentParser
import Basics
import JobPlan
import Ledger
import Pipeline
import Publish
import Report

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write one HTML page with charts: revenue, subscriptions, retention, refunds, deliveries, runs.",
        discussion: """
            The page needs no network and no other file. It shows totals, not single
            customers. The analyst role is sufficient. The charts need Chart.js from the
            package libjs-chart.js.

              storeledger report jobs/nightly-sync.yaml --output report.html
              storeledger report --app com.example.game --output - \\
                --database postgresql:///ledger > report.html
            """
    )

    @OptionGroup var place: AppArgument

    @Option(
        help: ArgumentHelp(
            "The page; replaces an existing one when it is complete. - is stdout.",
            valueName: "FILE"
        )
    )
    var output: String

    func run() async throws {
        try await perform(job: place.ledger.path) {
            let report: ReportDocument
            let job: String
            switch try place.source() {
            case .job(let pipeline):
                let library = try ChartLibrary.find()
                try await pipeline.openLedger()
                let app = pipeline.job.app
                job = pipeline.job.name
                report = try await pipeline.ledger.report(
                    of: job,
                    bundleId: app.bundleId,
                    environment: app.environment.rawValue,
                    library: library,
                    version: storeLedgerVersion
                )
            case .ledger(let ledger):
                let chosen = try await place.appAndJob(in: ledger)
                job = chosen.job
                report = try await ledger.report(
                    of: job,
                    bundleId: chosen.app.bundleId,
                    environment: chosen.app.environment,
                    library: try ChartLibrary.find(),
                    version: storeLedgerVersion
                )
            }
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
}
