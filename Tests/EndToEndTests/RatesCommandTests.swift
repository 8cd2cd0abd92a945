import FoundationEssentials
import TestSupport
import Testing

/// `storeledger rates` as users run it.
@Suite(.migratedDatabase)
struct RatesCommandTests {
    /// A bad file, and what `rates import` says of it.
    private struct BadFile {
        let id: String
        let text: String
        let words: String
        let currency: String

        init(_ id: String, _ text: String, _ words: String, to currency: String = "USD") {
            self.id = id
            self.text = text
            self.words = words
            self.currency = currency
        }

        /// A good row, and then this one.
        init(_ id: String, row: String, _ words: String) {
            self.init(id, "day,currency,rate\n2026-01-02,EUR,1.1\n\(row)\n", "rates.csv:3: \(words)")
        }
    }

    private static let bad = [
        BadFile("XR1", row: "2026-01-02,EUX,1.1", "column 2 (currency): \"EUX\" is no currency code"),
        BadFile("XR1", row: "2026-01-02,eur,1.1", "column 2 (currency): \"eur\" is no currency code"),
        BadFile(
            "XR1",
            "Date,USD,JPX,\n2026-01-02,1.1,160,\n",
            "rates.csv:1: column 3 (JPX): \"JPX\" is no currency code"
        ),
        BadFile("XR2", row: "2026-01-02,GBP,0", "column 3 (rate): the rate is \"0\""),
        BadFile("XR2", row: "2026-01-02,GBP,0.000", "column 3 (rate): the rate is \"0.000\""),
        BadFile("XR2", row: "2026-01-02,GBP,-1.2", "column 3 (rate): the rate is \"-1.2\""),
        BadFile("XR2", row: "2026-01-02,GBP,", "column 3 (rate): the rate is \"\""),
        BadFile("XR2", row: "2026-01-02,GBP,\"1,2\"", "column 3 (rate): the rate is \"1,2\""),
        BadFile("XR2", row: "2026-01-02,GBP,0x1p3", "column 3 (rate): the rate is \"0x1p3\""),
        BadFile("XR2", row: "2026-01-02,GBP,nan", "column 3 (rate): the rate is \"nan\""),
        BadFile("XR2", "Date,USD,JPY,\n2026-01-02,1.1,0,\n", "rates.csv:2: column 3 (JPY): the rate is \"0\""),
        BadFile("XR2", "Date,USD,JPY,\n2026-01-02,,160,\n", "rates.csv:2: column 2 (USD): the rate is \"\""),
        BadFile(
            "XR3",
            row: "2026-01-02,EUR,1.2",
            "column 3 (rate): the rate of EUR on 2026-01-02 is 1.2, but 1.1 in line 2"
        ),
        BadFile(
            "XR3",
            "Date,USD,JPY,\n2026-01-02,1.1,160,\n2026-01-02,1.1,161,\n",
            "rates.csv:3: column 3 (JPY): the rate of JPY on 2026-01-02 is 161, but 160 in line 2"
        ),
        BadFile(
            "XR3",
            "Date,USD,USD,\n2026-01-02,1.1,1.1,\n",
            "rates.csv:1: column 3 (USD): the currency has two columns"
        ),
        BadFile(
            "XR4",
            row: "2026-01-02,USD,1.1",
            "column 3 (rate): the rate of USD is 1.1, but it is the currency of --currency"
        ),
        BadFile(
            "XR4",
            "Date,EUR,JPY,\n2026-01-02,0.9,160,\n",
            "rates.csv:1: column 2 (EUR): rates for one euro have no column EUR"
        ),
        BadFile(
            "XR5",
            "Date,USD,JPY,\n2026-01-02,1.1,160,\n2026-01-01,1.1",
            "rates.csv:3: column 3 (JPY): the row ends before this column"
        ),
        BadFile(
            "XR5",
            "Date,USD,JPY,\n2026-01-02,1.1,160,\n2026-01-01,1.1,16",
            "rates.csv:3: column 4 (without a name): the row ends"
        ),
        BadFile("XR5", "Date,USD,JPY\n2026-01-02,1.1,16", "rates.csv:2: column 3 (JPY): the last line has no line end"),
        BadFile(
            "XR5",
            "day,currency,rate\n2026-01-02,EUR,1.",
            "rates.csv:2: column 3 (rate): the last line has no line end"
        ),
        BadFile("XR5", row: "2026-01-02,GBP", "column 3 (rate): the row ends before this column"),
        BadFile("XR6", row: "2026-02-30,GBP,1.2", "column 1 (day): the day is \"2026-02-30\""),
        BadFile("XR6", row: "02/01/2026,GBP,1.2", "column 1 (day): the day is \"02/01/2026\""),
        BadFile("XR6", row: "2026-1-2,GBP,1.2", "column 1 (day): the day is \"2026-1-2\""),
        BadFile("XR6", "Date,USD,\n31 April 2026,1.1,\n", "rates.csv:2: column 1 (Date): the day is \"31 April 2026\""),
        BadFile("XR7", "", "rates.csv: there are no rates"),
        BadFile("XR7", "Date,USD,JPY,\n", "rates.csv: there are no rates"),
        BadFile(
            "XR7",
            "day,currency,rate\n2026-01-02,USD,1\n",
            "rates.csv: every row is of USD, the currency of --currency"
        ),
        BadFile(
            "XR7",
            "day;currency;rate\n2026-01-02;EUR;1,1\n",
            "rates.csv:1: column 1: the file begins with \"day;currency;rate\""
        ),
        BadFile(
            "XR7",
            "day,rate\n2026-01-02,1\n",
            "rates.csv:1: column 2 (rate): the column is \"rate\"; the header must be"
        ),
        BadFile("XR7", "PK\u{3}\u{4}", "another zip archive"),
        BadFile("XR9", row: "2999-01-02,GBP,1.2", "column 1: the day 2999-01-02 is in the future; today is 2"),
        BadFile(
            "XR9",
            "Date,USD,JPY,\n2999-01-02,1.1,160,\n",
            "rates.csv:2: column 1: the day 2999-01-02 is in the future"
        ),
        BadFile("XR8", "Date,USD,JPY,\n2026-01-02,1.1,160,\n", "rates.csv:1: there is no column CHF", to: "CHF"),
    ]

    @Test func `XR1 XR2 XR3 XR4 XR5 XR6 XR7 XR8 XR9 a bad file of rates is refused, and nothing of it is imported`()
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            _ = try await stage.migrated(stage.job)
            let book = try stage.book()
            for file in Self.bad {
                let path = try stage.write(file.text, to: "rates.csv")
                let outcome = try await stage.storeledger("rates", "import", path, "--currency", file.currency)
                #expect(outcome.code == 65 && outcome.output == "", "\(file.id) \(file.text): \(outcome)")
                #expect(outcome.errors.contains(file.words), "\(file.id): \(outcome.errors)")
                #expect(outcome.errors.hasSuffix("Nothing was imported\n"), "\(file.id): \(outcome.errors)")
            }
            let missing = try await stage.storeledger("rates", "import", "/nowhere/rates.csv", "--currency", "USD")
            #expect(
                missing.code == 66 && missing.errors.contains("/nowhere/rates.csv: there is no such file"),
                "\(missing)"
            )
            let unknown = try await stage.storeledger("rates", "import", "/nowhere/rates.csv", "--currency", "usd")
            #expect(unknown.code == 64 && unknown.errors.contains("--currency is usd"), "XR1: \(unknown)")
            #expect(try await book.count("SELECT count(*) FROM exchange_rates") == 0)
        }
    }

    @Test func `rates are imported by the loader, listed for the analyst, and missing ones shown by status and doctor`()
        async throws
    {
        try await Stage.with(.init(customers: 40)) { stage in
            try await LedgerRoles.with { roles in
                let path = try await stage.migrated(stage.job)
                try await roles.apply()
                try await stage.run(path)
                func storeledger(_ arguments: String..., as role: String = "loader") async throws -> Stage.Outcome {
                    let environment = ["DATABASE_URL": stage.databaseURL(role: roles.name(role))]
                    return try await stage.withStoreledger(arguments, environment: environment) { process in
                        let code = await process.wait()
                        return Stage.Outcome(code: code, output: process.output, errors: process.errors)
                    }
                }
                let book = try stage.book()
                let sold = try await book.column(
                    "SELECT DISTINCT currency FROM revenue_by_day WHERE gross_milliunits <> 0 AND currency NOT IN ('USD', 'EUR') ORDER BY 1"
                )
                try #require(sold.count > 1)
                let none = try await storeledger("rates", "missing")
                #expect(none.code == 0 && none.output == "no rates; storeledger rates import reads them\n", "\(none)")
                #expect(try await storeledger("rates", "list").output == "no rates\n")
                #expect(
                    try await storeledger("doctor", path).output.contains(
                        "none, so the views in one currency are empty"
                    )
                )
                #expect(try await !storeledger("status", path).output.contains("  rates: "))

                // The first of the other currencies has a rate, the rest has none.
                let file = try stage.write(
                    "Date,USD,\(sold[0]),\n2026-01-05,1.2,4.8,\n2010-01-04,1.5,N/A,\n2010-01-01,1,2,\n",
                    to: "eurofxref-hist.csv"
                )
                let first = try await storeledger("rates", "import", file, "--currency", "USD")
                #expect(
                    first.code == 0
                        && first.output
                            == "\(file): rates of 2 currencies to USD, 2010-01-01 to 2026-01-05\n  new 5, changed 0, unchanged 0\n",
                    "\(first)"
                )
                let again = try await storeledger("rates", "import", file, "--currency", "USD", "--json")
                struct Imported: Decodable { let new, changed, unchanged, days: Int }
                let counts = try JSONDecoder().decode(Imported.self, from: Data(again.output.utf8))
                #expect([counts.new, counts.changed, counts.unchanged, counts.days] == [0, 0, 5, 3])

                for role in ["loader", "exporter", "analyst"] {
                    let list = try await storeledger("rates", "list", as: role)
                    #expect(list.code == 0, "\(list)")
                    #expect(
                        list.output.contains(
                            "1 \(sold[0]) = 0.25 USD on 2026-01-05; days with a rate: 2 since 2010-01-01; oldest rate used: 20"
                        ),
                        "\(list.output)"
                    )
                    let missing = try await storeledger("rates", "missing", as: role)
                    #expect(missing.code == 0)
                    let lines = missing.output.split(separator: "\n")
                    let named = lines.map { $0.prefix { $0 != ":" } }
                    #expect(named == sold.dropFirst().map { "\($0) without a rate to USD" }, "\(missing.output)")
                }
                #expect(try await storeledger("rates", "import", file, "--currency", "USD", as: "exporter").code == 77)

                let words = "to USD until 2026-01-05; missing for \(sold.dropFirst().joined(separator: ", "))"
                let status = try await storeledger("status", path, as: "analyst")
                #expect(status.output.contains("\n  rates: \(words)"), "\(status.output)")
                #expect(try await storeledger("doctor", path).output.contains("warning: \(words)"))
                #expect(try await storeledger("status", path, "--json").output.contains("\"until\" : \"2026-01-05\""))
                try await stage.storeledger("refresh", path, "--verify").expect(0)

                let rest = sold.dropFirst().map { "2000-01-01,\($0),0.5\n" }.joined()
                let more = try stage.write("day,currency,rate\n\(rest)", to: "more.csv")
                try await storeledger("rates", "import", more, "--currency", "USD").expect(0)
                #expect(try await storeledger("rates", "missing").output == "every sale and refund has a rate\n")
                #expect(
                    try await book.column(
                        "SELECT 1 FROM revenue_converted_by_month WHERE currencies_without_rate IS NOT NULL"
                    ) == []
                )
                try await stage.storeledger("refresh", path, "--verify").expect(0)
            }
        }
    }
}
