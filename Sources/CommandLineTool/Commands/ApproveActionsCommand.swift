import Actions
import ArgumentParser
import JobPlan
import Pipeline

struct ApproveActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve a batch, so that run sends it.",
        discussion: """
            Names the hash that the plan showed, and the number of rows that will be sent.
            The database records who approved and when. An approval expires.

              storeledger actions approve jobs/extend-after-outage.yaml \\
                --batch HASH --rows 39712
            """
    )

    @OptionGroup var job: ActionJobArgument

    @Option(help: ArgumentHelp("The hash of the batch: 64 digits.", valueName: "HASH"))
    var batch: String

    @Option(help: ArgumentHelp("The number of rows that will be sent.", valueName: "N"))
    var rows: Int64

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let (approved, remark) = try await pipeline.approve(batch.lowercased(), rows: rows)
            if let remark { Console.message("storeledger: \(remark)") }
            let by = approved.approvedBy ?? ""
            let until = approved.expiresAt?.iso8601 ?? ""
            Console.result(
                "\(pipeline.job.name): batch \(approved.sha256) with \(counted(rows, "row")) approved by \(by); expires at \(until)"
            )
        }
    }
}
