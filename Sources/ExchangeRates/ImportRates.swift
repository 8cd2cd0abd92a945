package import Ledger
import Postgres

/// What an import of rates found and changed; its JSON form is documented in `docs/reference/json.md`.
package struct ImportedRates: Encodable, Sendable, Equatable {
    package let reportingCurrency: String
    package let currencies: Int64
    package let days: Int64
    package let firstDay: String
    package let lastDay: String
    package let new: Int64
    /// Rates that the ledger had with another value.
    package let changed: Int64
    package let unchanged: Int64
    /// New or changed rates that may be inverted, or of another unit, each as a sentence without its full stop; `nil` if there are none.
    package let doubtful: [String]?
}

extension Ledger {
    /// Reads a file of rates, and stores them in one transaction.
    ///
    /// - Parameters:
    ///   - path: The European Central Bank's `eurofxref-hist.csv` or `eurofxref.csv`, or a file with the columns `day,currency,rate`.
    ///   - currency: The currency to convert to, whose units the rates are.
    /// - Returns: What was stored; the second import of a file changes nothing.
    /// - Throws: ``RateFileError``, and nothing is stored; ``Postgres/PostgresError``.
    package func importRates(from path: String, to currency: String) async throws -> ImportedRates {
        let rates = try RateFile(path: path).rates(to: currency)
        return try await transaction { connection in
            let today = try connection.run("SELECT (now() AT TIME ZONE 'UTC')::date::text AS today")[0].text("today")
            if let rate = rates.first(where: { $0.day > today }) {
                throw RateFileError.future(path: path, day: rate.day, line: rate.line, today: today)
            }
            // Two imports at a time would count each other's rates wrongly.
            try connection.script("LOCK TABLE exchange_rates IN SHARE ROW EXCLUSIVE MODE; \(Self.defaultPlanner)")
            let row = try connection.run(
                .importRates,
                [
                    "reporting_currency": .text(currency),
                    "days": .textArray(rates.map(\.day)),
                    "currencies": .textArray(rates.map(\.currency)),
                    "units": .textArray(rates.map(\.units)),
                    "divisors": .textArray(rates.map(\.divisor)),
                ]
            )[0]
            return ImportedRates(
                reportingCurrency: currency,
                currencies: try row.int64("currencies"),
                days: try row.int64("days"),
                firstDay: try row.text("first_day"),
                lastDay: try row.text("last_day"),
                new: try row.int64("new"),
                changed: try row.int64("changed"),
                unchanged: try row.int64("unchanged"),
                doubtful: try row.textArrayOrNil("doubtful")
            )
        }
    }
}
