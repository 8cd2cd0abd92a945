import ArgumentParser

struct ActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "actions",
        abstract: "Plan, approve and send batches of requests that change something.",
        discussion: """
            A batch is planned, then approved, then sent. Each row has exactly one outcome,
            even after a kill; an outcome that cannot be known is unknown (exit code 2).

              storeledger actions plan jobs/extend-after-outage.yaml
              storeledger actions approve jobs/extend-after-outage.yaml \\
                --batch HASH --rows N
              storeledger actions run jobs/extend-after-outage.yaml
              storeledger actions status jobs/extend-after-outage.yaml
              storeledger actions results jobs/extend-after-outage.yaml --directory out
              storeledger actions rehearse jobs/answer-consumption-requests.yaml
              storeledger actions approve jobs/answer-consumption-requests.yaml \\
                --policy HASH --rows N --expires 30d
              storeledger actions run jobs/answer-consumption-requests.yaml --follow
              storeledger actions withdraw jobs/answer-consumption-requests.yaml
            """,
        subcommands: [
            PlanActionsCommand.self, ApproveActionsCommand.self, WithdrawApprovalCommand.self, RunActionsCommand.self,
            ActionStatusCommand.self, ActionResultsCommand.self, RetryActionsCommand.self, RehearseActionsCommand.self,
        ]
    )
}
