import ArgumentParser
import JobPlan
import Ledger
import Pipeline
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
                (report, job) = (try await pipeline.report(), pipeline.job.name)
            case .ledger(let reader):
                let chosen = try await place.appAndJob(in: reader)
                (report, job) = (try await reader.report(of: chosen.job, app: chosen.app), chosen.job)
            }
            let remark = report.hasRun ? nil : "\(job) has never run"
            if output == "-" {
                Console.result(report.page)
                if let remark { Console.message(remark) }
            } else {
                try write(report, to: output)
                Console.result("\(output): \(report.page.count) bytes" + (remark.map { "; \($0)" } ?? ""))
            }
        }
    }
}
