import Actions
import ArgumentParser
import Basics
import JobFiles
import Pipeline

struct ApproveActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve a batch, so that run sends it, or a policy, so that run --follow answers by it.",
        discussion: """
            Names the hash that the plan showed, and the number of rows that will be sent.
            The database records who approved and when. An approval expires. It ends the
            approvals of the job's older batches: their rows that were not sent are cancelled.

            With --policy it names the hash that rehearse showed, and the most rows of all
            answers until it expires. It replaces an earlier approval of the policy.

              storeledger actions approve jobs/extend-after-outage.yaml \\
                --batch HASH --rows 39712
              storeledger actions approve jobs/answer-consumption-requests.yaml \\
                --policy HASH --rows 500 --expires 30d
            """
    )

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("The hash of the batch: 64 digits.", valueName: "HASH"))
    var batch: String?

    @Option(help: ArgumentHelp("The hash of the policy: 64 digits.", valueName: "HASH"))
    var policy: String?

    @Option(help: ArgumentHelp("The number of rows that will be sent; of a policy, the most rows.", valueName: "N"))
    var rows: Int64

    @Option(help: ArgumentHelp("How long a policy is approved, such as 12h or 30d; at most 366d.", valueName: "TIME"))
    var expires: ShortDuration?

    func validate() throws {
        guard (batch == nil) != (policy == nil) else { throw ValidationError("Name either --batch or --policy.") }
        guard (policy == nil) == (expires == nil) else {
            throw ValidationError("--policy needs --expires, and a batch expires after approval.expires.")
        }
        guard policy == nil || rows > 0 else { throw ValidationError("--rows is \(rows); it must be at least 1.") }
    }

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.actionPipeline()
            if let policy, let expires {
                let approval = try await pipeline.actions().approvePolicy(
                    policy.lowercased(),
                    rows: rows,
                    for: expires.duration
                )
                return Console.result(PolicyApprovalText(approval, job: pipeline.job.name).line)
            }
            let approved = try await pipeline.actions().approve(batch?.lowercased() ?? "", rows: rows)
            if let remark = pipeline.changeOfInput(of: approved) { Console.message("storeledger: \(remark)") }
            let by = approved.approvedBy ?? ""
            let until = approved.expiresAt?.iso8601 ?? ""
            Console.result(
                "\(pipeline.job.name): batch \(approved.sha256) with \(counted(rows, "row")) approved by \(by); expires at \(until)"
            )
        }
    }
}
