import ExchangeRates
import FoundationEssentials
import Ledger
import Postgres
import TestSupport
import Testing

/// Rates of files, and what the views in one currency make of them.
@Suite(.migratedDatabase)
struct ExchangeRateTests {
    /// In the European Central Bank's form, newest first: units for one euro.
    ///
    /// The 4th and the 5th are a weekend.
    private static let bank = """
        Date,USD,JPY,GBP,
        2025-01-06,1.25,200,N/A,
        2025-01-03,1.2,160,0.8,
        2025-01-02,1.1,N/A,0.5,

        """

    private func importing(_ text: String, to currency: String, in ledger: Ledger) async throws -> ImportedRates {
        try await withTemporaryDirectory { directory in
            let path = directory + "/rates.csv"
            try Data(text.utf8).write(to: URL(filePath: path))
            return try await ledger.importRates(from: path, to: currency)
        }
    }

    private static let stored =
        "SELECT to_char(day, 'DD') AS d, currency, rate FROM exchange_rates WHERE reporting_currency = 'USD' ORDER BY day, currency"

    @Test func `rates of the European Central Bank become rates to any of its currencies, through the euro of the day`()
        async throws
    {
        let world = try await TestLedger()
        let imported = try await importing(Self.bank, to: "USD", in: world.ledger)
        #expect(imported.currencies == 3 && imported.days == 3)
        #expect(imported.firstDay == "2025-01-02" && imported.lastDay == "2025-01-06")
        #expect([imported.new, imported.changed, imported.unchanged] == [7, 0, 0])
        #expect(
            try await world.answer(Self.stored) == [
                "02 EUR 1.1", "02 GBP 2.2", "03 EUR 1.2", "03 GBP 1.5", "03 JPY 0.0075", "06 EUR 1.25",
                "06 JPY 0.00625",
            ]
        )
        _ = try await importing(Self.bank, to: "EUR", in: world.ledger)
        _ = try await importing(Self.bank, to: "GBP", in: world.ledger)
        #expect(
            try await world.answer(
                """
                SELECT exchange_rate('EUR', 'USD', '2025-01-06') AS usd, exchange_rate('EUR', 'GBP', '2025-01-02') AS gbp,
                       exchange_rate('EUR', 'JPY', '2025-01-06') AS jpy, exchange_rate('GBP', 'USD', '2025-01-03') * 3 AS thirds,
                       (SELECT count(*) FROM exchange_rates WHERE reporting_currency = 'GBP' AND day = '2025-01-06') AS without_base
                """
            ) == ["0.8 2 0.005 2.00000000000000000001 0"],
            "the 6th has no rate to GBP, because the bank has none of GBP"
        )
        #expect(
            try await world.answer("SELECT reporting_currency FROM reporting_currencies ORDER BY 1") == [
                "EUR", "GBP", "USD",
            ]
        )
    }

    @Test func `a day without a rate takes the last earlier one, and the currency itself is worth 1`() async throws {
        let world = try await TestLedger()
        _ = try await importing(Self.bank, to: "USD", in: world.ledger)
        #expect(
            try await world.answer(
                """
                SELECT exchange_rate('USD', 'EUR', '2025-01-01') AS before, exchange_rate('USD', 'JPY', '2025-01-02') AS before_jpy,
                       exchange_rate('USD', 'JPY', '2025-01-05') AS weekend, exchange_rate('USD', 'GBP', '2025-01-06') AS not_quoted,
                       exchange_rate('USD', 'EUR', '2099-01-01') AS later, exchange_rate('USD', 'USD', '1990-01-01') AS same
                """
            ) == ["- - 0.0075 1.5 1.25 1"]
        )
    }

    @Test func `a second import changes nothing, and other rates of known days replace them and are counted`()
        async throws
    {
        let world = try await TestLedger()
        _ = try await importing(Self.bank, to: "USD", in: world.ledger)
        let before = try await world.rows("SELECT ctid, xmin, * FROM exchange_rates ORDER BY day, currency")
        let again = try await importing(Self.bank, to: "USD", in: world.ledger)
        #expect([again.new, again.changed, again.unchanged] == [0, 0, 7])
        #expect(try await world.rows("SELECT ctid, xmin, * FROM exchange_rates ORDER BY day, currency") == before)

        let corrected = Self.bank.replacing("1.25,200,N/A", with: "1.25,250,0.5")
        let changed = try await importing(corrected, to: "USD", in: world.ledger)
        #expect([changed.new, changed.changed, changed.unchanged] == [1, 1, 6])
        #expect(try await world.answer(Self.stored).suffix(3) == ["06 EUR 1.25", "06 GBP 2.5", "06 JPY 0.005"])
    }

    @Test func `a plain file has units of the reporting currency, and one rate may be there twice`() async throws {
        let world = try await TestLedger()
        let text =
            "day,currency,rate\r\n2025-01-03,VND,3.9e-05\r\n2025-01-03,USD,1\r\n2025-01-03,VND,0.000039\r\n2025-01-02,EUR,1.10\r\n"
        let imported = try await importing(text, to: "USD", in: world.ledger)
        #expect([imported.new, imported.changed, imported.unchanged] == [2, 0, 0])
        #expect(try await world.answer(Self.stored) == ["02 EUR 1.1", "03 VND 0.000039"])
        // What a user has typed in stays, and is equal to the same number in a file.
        try await world.run(
            "UPDATE exchange_rates SET rate = 1.1000; INSERT INTO exchange_rates VALUES ('USD', 'KZT', '2025-01-02', 0.002)"
        )
        #expect(try await importing(text, to: "USD", in: world.ledger).changed == 1)
        #expect(try await importing(text, to: "USD", in: world.ledger).unchanged == 2)
        #expect(try await world.count("exchange_rates WHERE currency = 'KZT'") == 1)
    }

    @Test func `a rate that is more than ten times off the one before, or closer to its inverse, is doubtful`()
        async throws
    {
        let world = try await TestLedger()
        func doubtful(_ rows: String) async throws -> [String] {
            try await importing("day,currency,rate\n\(rows)\n", to: "USD", in: world.ledger).doubtful ?? []
        }
        #expect(
            try await doubtful("2025-01-01,VND,25500") == [
                "1 VND is 25500 USD on 2025-01-01, and there is none before it"
            ]
        )
        #expect(
            try await doubtful("2025-01-01,VND,0.00004\n2025-01-02,VND,25000\n2025-01-02,EUR,1.1\n2025-01-03,EUR,0.9")
                == [
                    "1 VND is 25000 USD on 2025-01-02, after 0.00004"
                ],
            "a small change, whose inverse is near too, is none"
        )
        #expect(try await doubtful("2025-01-04,GBP,1.25\n2025-01-05,GBP,0.8").count == 1)
        #expect(
            try await doubtful("2025-01-04,GBP,1.25\n2025-01-05,GBP,0.8") == [],
            "what was there already is not said again"
        )
    }

    @Test func `exchange_rate_days has the day of the rate, also of one that is carried forward`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | - | coins | 2025-01-01 | - | 1000 | currency=EUR, storefront=DEU
            b | - | coins | 2025-03-05 | - | 1000 | currency=EUR, storefront=DEU
            c | - | coins | 2025-03-05 | - | 1000 |
            """
        )
        _ = try await importing(Self.bank, to: "USD", in: world.ledger)
        #expect(
            try await world.answer("SELECT currency, day, rate, rate_day FROM exchange_rate_days ORDER BY 1, 2") == [
                "EUR 2025-01-01 - -", "EUR 2025-03-05 1.25 2025-01-06", "USD 2025-03-05 1 2025-03-05",
            ]
        )
        let listed = try await world.ledger.listRates()
        #expect(listed.map(\.currency) == ["EUR", "GBP", "JPY"])
        #expect(listed[0].oldestUsed == "2025-01-06" && listed[0].oldestAge == 58 && listed[1].oldestUsed == nil)
    }

    @Test func `the file of the current day has spaces and a long date`() async throws {
        let world = try await TestLedger()
        let text = "Date, USD, JPY, \n6 January 2025, 1.25, 200, \n"
        let imported = try await importing(text, to: "USD", in: world.ledger)
        #expect(imported.firstDay == "2025-01-06" && imported.new == 2)
    }

    @Test func `converted sales follow each import at once, and equal a computation from every record`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | - | coins | 2025-01-05 | - | 160000 | currency=JPY, storefront=JPN, revocation_date=2025-01-07  # 160 yen on a Sunday
            b | - | coins | 2025-01-03 | - | 1000   | currency=GBP, storefront=GBR
            c | - | coins | 2025-01-02 | - | 500    |
            d | - | coins | 2025-01-02 | - | 90000  | currency=JPY, storefront=JPN                              # before the first rate
            e | - | coins | 2025-01-06 | - | 70000  | currency=VND, storefront=VNM                              # never a rate
            """
        )
        let figures = """
            SELECT storefront, gross_estimated_milliunits, refunded_estimated_milliunits, array_to_string(currencies_without_rate, '+') AS missing,
                   purchases_without_rate
              FROM revenue_converted_by_month WHERE reporting_currency = 'USD' ORDER BY 1
            """
        let missing = """
            SELECT currency, first_day, days, purchases, gross_amount, refunded_milliunits FROM missing_rates
             WHERE reporting_currency = 'USD' ORDER BY 1
            """
        #expect(try await world.answer(figures) == [], "no rates, no rows")
        #expect(try await world.answer(missing) == [])
        _ = try await importing(Self.bank, to: "USD", in: world.ledger)
        // 160 yen are 1.20 dollars on the 5th (0.0075 of the 3rd), and 1.00 when they are refunded on the 7th (0.00625 of the 6th).
        #expect(
            try await world.answer(figures)
                == ["GBR 1500 0 - 0", "JPN 1200 1000 JPY 1", "USA 500 0 - 0", "VNM - - VND 1"]
        )
        #expect(
            try await world.answer(missing)
                == ["JPY 2025-01-02 1 1 90.000 0", "VND 2025-01-06 1 1 70.000 0"]
        )
        #expect(
            try await world.answer(
                "SELECT month, currency, days, purchases, gross_amount FROM missing_rates_by_month ORDER BY 2"
            )
                == ["2025-01-01 JPY 1 1 90.000", "2025-01-01 VND 1 1 70.000"]
        )
        #expect(try await world.rows("SELECT reporting_currency, is_default FROM reporting_currencies") == ["(USD,t)"])

        _ = try await importing(
            "day,currency,rate\n2025-01-03,GBP,2\n2025-01-01,JPY,0.01\n2025-01-06,VND,0.0001\n",
            to: "USD",
            in: world.ledger
        )
        #expect(
            try await world.rows(figures) == [
                "(GBR,2000,0,,0)", "(JPN,2100,1000,,0)", "(USA,500,0,,0)", "(VNM,7,0,,0)",
            ],
            "no refresh was needed"
        )
        #expect(try await world.rows(missing) == [])
        try await world.run("DELETE FROM exchange_rates WHERE currency = 'GBP'")
        #expect(try await world.rows(figures).first == "(GBR,,,GBP,1)")
        #expect(try await world.ledger.verifyViews() == [])
    }

    @Test func `missing_rates has the days for which exchange_rate has no value, for every reporting currency`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | - | coins | 2025-01-01 | - | 1000  | currency=EUR, storefront=DEU
            b | - | coins | 2025-01-02 | - | 1000  | currency=EUR, storefront=DEU, revocation_date=2025-01-04
            c | - | coins | 2025-01-02 | - | 3000  | currency=GBP, storefront=GBR
            d | - | coins | 2025-01-03 | - | 5000  |
            e | - | coins | 2025-01-03 | - | 5000  | currency=VND, storefront=VNM
            f | - | coins | 2025-01-03 | - | 5000  | currency=-
            """
        )
        _ = try await importing(Self.bank, to: "USD", in: world.ledger)
        _ = try await importing(Self.bank, to: "GBP", in: world.ledger)
        _ = try await importing("day,currency,rate\n2025-01-04,EUR,160\n", to: "JPY", in: world.ledger)
        let shown = """
            SELECT reporting_currency, currency, first_day, last_day, days, purchases, net_milliunits FROM missing_rates ORDER BY 1, 2
            """
        let defined = """
            SELECT c.reporting_currency, r.currency, min(r.day), max(r.day), count(DISTINCT r.day), sum(r.purchases), sum(r.net_milliunits)
              FROM revenue_by_day r CROSS JOIN (SELECT DISTINCT reporting_currency FROM exchange_rates) c
             WHERE exchange_rate(c.reporting_currency, r.currency, r.day) IS NULL AND r.currency IS NOT NULL
             GROUP BY 1, 2 ORDER BY 1, 2
            """
        #expect(
            try await world.answer(
                "SELECT reporting_currency, currency, sum(days), sum(net_milliunits) FROM missing_rates_by_month GROUP BY 1, 2 ORDER BY 1, 2"
            )
                == world.answer(
                    "SELECT reporting_currency, currency, days, net_milliunits FROM missing_rates ORDER BY 1, 2"
                )
        )
        let found = try await world.answer(shown)
        #expect(found.count == 8, "\(found)")
        #expect(try await found == world.answer(defined))
        let currencies = try await world.rows(
            "SELECT reporting_currency, is_default FROM reporting_currencies ORDER BY 1"
        )
        #expect(currencies == ["(GBP,t)", "(JPY,f)", "(USD,f)"], "a purchase each in GBP and USD: the first by name")
    }
}
