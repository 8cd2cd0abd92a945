import ArgumentParser

/// Measures parts of StoreLedger by themselves; `scripts/bench` also starts what they are compared with.
@main
struct LedgerBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger-bench",
        abstract: "Measures parts of StoreLedger by themselves: fixed work, a warm-up, several runs, medians.",
        discussion: "Only a release build measures anything: swift build -c release --product ledger-bench",
        subcommands: [
            VerifyCommand.self, SignBenchmarkCommand.self, MergeCommand.self, ReplayBenchmarkCommand.self,
            StorageCommand.self,
            EraseBenchmarkCommand.self,
            ReceiveBenchmarkCommand.self,
        ]
    )
}
