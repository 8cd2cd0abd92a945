import Basics
package import Ledger
package import LedgerSchema
import Postgres

extension JobStatus {
    /// The exchange rates of the ledger, and the app's sales and refunds that have none.
    package struct Rates: StatusPart, Equatable {
        package struct Currency: Codable, Sendable, Equatable {
            /// The currency that rates convert to.
            package let reportingCurrency: String
            /// The day of the newest rate.
            package let until: String
            /// Currencies of sales and refunds on days without a rate; `nil` if there are none.
            package let missing: [String]?

            package var sentence: String {
                let gaps = missing.map {
                    "; missing for \($0.joined(separator: ", ")), which views in \(reportingCurrency) leave out: storeledger rates missing"
                }
                return "to \(reportingCurrency) until \(until)\(gaps ?? "")"
            }
        }

        package let currencies: [Currency]

        static let key: String? = "rates"
        static let title = "rates"
        static let tables = ["exchange_rates", "missing_rates"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try read(context.app.id, connection)
        }

        static func read(_ app: AppID?, _ connection: borrowing PostgresConnection) throws -> Self? {
            let currencies: [Currency] = try connection.values(
                """
                SELECT c.reporting_currency, (SELECT max(day) FROM exchange_rates e WHERE e.reporting_currency = c.reporting_currency) AS until,
                       (SELECT array_agg(m.currency ORDER BY m.currency) FROM missing_rates m
                         WHERE m.app_id = $1 AND m.reporting_currency = c.reporting_currency) AS missing
                  FROM reporting_currencies c ORDER BY c.reporting_currency
                """,
                [app.map { .integer($0.rawValue) } ?? .null]
            )
            return currencies.isEmpty ? nil : Self(currencies: currencies)
        }

        func lines(in status: JobStatus) -> [String] { currencies.map { "  rates: \($0.sentence)" } }
    }

    package var rates: Rates? { self[Rates.self] }
}

extension Ledger {
    /// Reads which rates there are, and which the app's sales and refunds lack.
    ///
    /// - Parameter app: `nil` for an app that the ledger does not know yet.
    /// - Returns: `nil` for a ledger without rates.
    /// - Throws: ``Postgres/PostgresError``.
    package func ratesStatus(of app: AppID?) async throws -> JobStatus.Rates? {
        try await transaction(.readOnlySnapshot) { try JobStatus.Rates.read(app, $0) }
    }
}
