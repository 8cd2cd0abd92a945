package import Ledger
import Postgres

/// The rates of one currency; its JSON form is documented in `docs/reference/json.md`.
package struct ListedRates: Encodable, Sendable, Equatable {
    package let reportingCurrency: String
    package let currency: String
    package let days: Int64
    package let firstDay: String
    package let lastDay: String
    /// Units of ``reportingCurrency`` for one unit of ``currency`` on ``lastDay``, as PostgreSQL prints it.
    package let lastRate: String
    /// The day of the rate with the greatest age that sales or refunds are converted with; `nil` if none is older than ten days.
    package let oldestUsed: String?
    /// Its age on the day of the sale or refund, in days.
    package let oldestAge: Int64?
}

/// Sales and refunds of an app on days without a rate; its JSON form is documented in `docs/reference/json.md`.
package struct MissingRates: Encodable, Sendable, Equatable {
    package let reportingCurrency: String
    package let currency: String
    package let app: String
    package let environment: String
    package let days: Int64
    package let firstDay: String
    package let lastDay: String
    package let purchases: Int64
    /// The prices of the purchases, in units of ``currency``, as PostgreSQL prints it.
    package let gross: String
    /// In units of ``currency``, as PostgreSQL prints it.
    package let refunded: String
}

extension Ledger {
    /// The currencies that have rates.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func listRates() async throws -> [ListedRates] {
        try await transaction { connection in
            try connection.run(.listRates).map { row in
                ListedRates(
                    reportingCurrency: try row.text("reporting_currency"),
                    currency: try row.text("currency"),
                    days: try row.int64("days"),
                    firstDay: try row.text("first_day"),
                    lastDay: try row.text("last_day"),
                    lastRate: try row.text("last_rate"),
                    oldestUsed: try row.textOrNil("oldest_used"),
                    oldestAge: try row.int64OrNil("oldest_age")
                )
            }
        }
    }

    /// The currencies of sales and refunds on days without a rate.
    ///
    /// - Returns: Nothing for a ledger without rates, too.
    /// - Throws: ``Postgres/PostgresError``.
    package func missingRates() async throws -> [MissingRates] {
        try await transaction { connection in
            try connection.run(.listMissingRates).map { row in
                MissingRates(
                    reportingCurrency: try row.text("reporting_currency"),
                    currency: try row.text("currency"),
                    app: try row.text("app"),
                    environment: try row.text("environment"),
                    days: try row.int64("days"),
                    firstDay: try row.text("first_day"),
                    lastDay: try row.text("last_day"),
                    purchases: try row.int64("purchases"),
                    gross: try row.text("gross"),
                    refunded: try row.text("refunded")
                )
            }
        }
    }
}
