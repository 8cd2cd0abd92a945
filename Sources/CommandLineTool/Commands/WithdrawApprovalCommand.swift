import Actions
import ArgumentParser
import JobFiles
import Pipeline

struct WithdrawApprovalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Withdraw the approvals of a job, so that no further row of it is sent.",
        discussion: """
            Ends the approvals of the job's policy and of all its batches. Rows that
            were not sent are cancelled in the same transaction, also those that a process
            holds. The database records who withdrew and when.

              storeledger actions withdraw jobs/extend-after-outage.yaml
              storeledger actions withdraw jobs/answer-consumption-requests.yaml
            """
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.actionPipeline()
            let withdrawal = try await pipeline.actions().withdraw()
            let job = pipeline.job.name
            if let policy = withdrawal.policy { Console.result(PolicyApprovalText(policy, job: job).line) }
            if withdrawal.batches > 0 {
                Console.result(
                    "\(job): \(withdrawal.batches == 1 ? "1 batch" : "\(withdrawal.batches) batches") withdrawn; rows that were not sent are cancelled"
                )
            }
        }
    }
}
