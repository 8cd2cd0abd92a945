import ArgumentParser
import ExportPipeline
import JobPlan
import Ledger

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create or update the job's schema: sql/migrations, then sql/views.",
        discussion: "  storeledger migrate jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform {
            let pipeline = try job.pipeline()
            let report = try await pipeline.migrate()
            for name in report.applied { Console.result("applied \(name)") }
            let state = report.applied.isEmpty ? "was up to date" : "is up to date"
            Console.result(
                "schema \"\(pipeline.job.output.postgres.schema)\" \(state); \(report.views.count) views reapplied"
            )
        }
    }
}
