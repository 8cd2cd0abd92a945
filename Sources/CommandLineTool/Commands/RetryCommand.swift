import ArgumentParser
import Pipeline

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry only the items that failed in earlier runs.",
        discussion: """
            The failed items of all runs continue from their cursors in a new run. If the
            last run is unfinished, that run takes them instead. storeledger status lists
            the failed items and says how many of them this command requests again.

              storeledger retry jobs/nightly-sync.yaml
              storeledger retry jobs/nightly-sync.yaml --max-duration 30m
            """
    )

    @OptionGroup var jobs: JobsArgument

    @OptionGroup var items: ConcurrencyOption

    @OptionGroup var process: ProcessOptions

    func run() async throws {
        var options = Pipeline.Options()
        options.retryFailed = true
        options.concurrency = items.concurrency
        options.maximumDuration = process.maxDuration?.duration
        try await JobRun(argument: jobs, options: options, process: process).perform()
    }
}
