import Actions
import ArgumentParser
import JobPlan
import Pipeline

struct WithdrawApprovalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Withdraw the approval of a policy, so that run --follow answers no further request.",
        discussion: """
            Also ends the approvals of the batches that follow from it: rows that were not
            sent yet are not sent. The database records who withdrew it and when.

              storeledger actions withdraw jobs/answer-consumption-requests.yaml
            """
    )

    @OptionGroup var job: ActionJobArgument

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            let approval = try await pipeline.withdrawPolicy()
            Console.result(PolicyApprovalText(approval, job: pipeline.job.name).line)
        }
    }
}
