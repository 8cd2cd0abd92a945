import ArgumentParser

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try again what failed in earlier runs, and nothing else.",
        discussion: """
            The failed items of all runs go on from their cursor in a run of their own;
            where the last run has work left, it takes them up as well. storeledger status
            lists them, and says how many of them this asks for.

              storeledger retry jobs/nightly-sync.yaml
              storeledger retry jobs/nightly-sync.yaml --max-duration 30m
            """
    )

    @OptionGroup var job: JobArgument

    @OptionGroup var options: RunOptions

    func run() async throws {
        try await options.perform(job, retryFailed: true)
    }
}
