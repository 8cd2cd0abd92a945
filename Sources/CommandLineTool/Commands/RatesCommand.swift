import ArgumentParser
import ExchangeRates
import Ledger
import Pipeline

struct RatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rates",
        abstract: "Import exchange rates, and list those that are there or missing.",
        discussion: """
              storeledger rates import eurofxref-hist.csv --currency USD
              storeledger rates list
              storeledger rates missing
            """,
        subcommands: [ImportRatesCommand.self, ListRatesCommand.self, MissingRatesCommand.self]
    )
}

struct ImportRatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Store the rates of a file, for every app of the ledger.",
        discussion: """
            FILE is eurofxref-hist.csv or eurofxref.csv of the European Central Bank, or has
            the columns day,currency,rate: what one unit of currency is worth in units of
            --currency. The bank's rates are converted to --currency through the euro.

            A day without a rate takes the last earlier one. Importing a file again changes
            nothing, and a file with other rates of known days replaces them. With one bad
            row, nothing is imported (65). A rate that is more than ten times off the one
            before, or seems to be inverted, is imported with a warning. The views need no
            refresh.

              storeledger rates import eurofxref-hist.csv --currency USD
              storeledger rates import more.csv --currency USD --database postgresql:///ledger
            """
    )

    @Argument(help: ArgumentHelp("The rates.", valueName: "FILE"))
    var file: String

    @Option(help: ArgumentHelp("The currency to convert to, such as USD.", valueName: "CODE"))
    var currency: String

    @OptionGroup var ledger: LedgerOptions

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func validate() throws {
        guard CurrencyCode.isKnown(currency) else {
            throw ValidationError("--currency is \(currency); it must be a currency code of ISO 4217, such as USD.")
        }
    }

    func run() async throws {
        try await perform {
            let ledger = try ledger.ledger()
            try await ledger.openToWrite()
            let imported = try await ledger.importRates(from: file, to: currency)
            let doubtful = imported.doubtful ?? []
            for sentence in doubtful.prefix(5) { Console.message("warning: \(sentence); is it inverted?") }
            if doubtful.count > 5 {
                Console.message("warning: \(doubtful.count - 5) more rates are as far from the one before")
            }
            if json { return Console.result(try JSONOutput.document(imported)) }
            Console.result(
                "\(file): rates of \(currencies(imported.currencies)) to \(currency), \(imported.firstDay) to \(imported.lastDay)"
            )
            Console.result("  new \(imported.new), changed \(imported.changed), unchanged \(imported.unchanged)")
        }
    }
}

struct ListRatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the currencies with rates: their days and their last rate.",
        discussion: """
              storeledger rates list
              storeledger rates list --json
            """
    )

    @OptionGroup var ledger: LedgerOptions

    @Flag(help: "Write one JSON document to stdout: an array of currencies.")
    var json = false

    func run() async throws {
        try await perform {
            let ledger = try ledger.ledger()
            try await ledger.open()
            let rates = try await ledger.listRates()
            if json { return Console.result(try JSONOutput.document(rates)) }
            if rates.isEmpty { Console.result("no rates") }
            for rate in rates {
                let old = rate.oldestUsed.flatMap { day in
                    rate.oldestAge.map { "; oldest rate used: \(day), \($0) days old" }
                }
                Console.result(
                    "1 \(rate.currency) = \(rate.lastRate) \(rate.reportingCurrency) on \(rate.lastDay); days with a rate: "
                        + "\(rate.days) since \(rate.firstDay)\(old ?? "")"
                )
            }
        }
    }
}

struct MissingRatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "missing",
        abstract: "List the currencies of sales and refunds without a rate, with amounts.",
        discussion: """
            The views in one currency leave these amounts out. Only days before the first
            rate of a currency have none.

              storeledger rates missing
              storeledger rates missing --json
            """
    )

    @OptionGroup var ledger: LedgerOptions

    @Flag(help: "Write one JSON document to stdout: an array with an object for each app and currency.")
    var json = false

    func run() async throws {
        try await perform {
            let ledger = try ledger.ledger()
            try await ledger.open()
            let missing = try await ledger.missingRates()
            if json { return Console.result(try JSONOutput.document(missing)) }
            if missing.isEmpty {
                let isEmpty = try await ledger.listRates().isEmpty
                Console.result(
                    isEmpty ? "no rates; storeledger rates import reads them" : "every sale and refund has a rate"
                )
            }
            for row in missing {
                Console.result(
                    "\(row.currency) without a rate to \(row.reportingCurrency): sales \(row.gross), refunds \(row.refunded), \(row.firstDay) to "
                        + "\(row.lastDay), \(row.app) (\(row.environment))"
                )
            }
        }
    }
}

private func currencies(_ count: Int64) -> String { count == 1 ? "1 currency" : "\(count) currencies" }
