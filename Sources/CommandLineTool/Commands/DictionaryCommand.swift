import ArgumentParser
import Pipeline
import Status

struct DictionaryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dictionary",
        abstract: "Describe every table, view and column as Markdown, from the comments in the database.",
        discussion: """
            --dbt-sources writes the sources of the dbt package instead.

              storeledger dictionary jobs/nightly-sync.yaml > dictionary.md
              DATABASE_URL=postgresql:///ledger storeledger dictionary
            """
    )

    @OptionGroup var ledger: LedgerArgument

    @Flag(help: "Write dbt/models/sources.yml: the tables that the dbt package reads.")
    var dbtSources = false

    func run() async throws {
        try await perform(job: ledger.path, onlyReads: true) {
            let ledger = try ledger.address().ledger()
            try await ledger.open()
            let dictionary = try await ledger.dictionary()
            (dbtSources ? dictionary.dbtSources : dictionary.markdown).forEach(Console.result)
        }
    }
}
