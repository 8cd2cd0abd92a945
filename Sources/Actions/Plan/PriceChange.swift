import ActionKinds
import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// What the rows of a batch make of one price.
package struct PriceChange: Sendable, Equatable {
    package let sku: String
    /// ISO 4217; `nil` if neither the ledger nor the row has it.
    package let currency: String?
    /// In thousandths of a unit of the currency; `nil` if the ledger does not know it.
    package let oldPrice: Int64?
    /// In thousandths of a unit of the currency.
    package let newPrice: Int64
    package let rows: Int64

    package init(sku: String, currency: String?, oldPrice: Int64?, newPrice: Int64, rows: Int64) {
        self.sku = sku
        self.currency = currency
        self.oldPrice = oldPrice
        self.newPrice = newPrice
        self.rows = rows
    }

    /// By how many percent the price rises, negative if it falls; `nil` without an old price.
    package var percent: Double? {
        guard let oldPrice, oldPrice > 0 else { return nil }
        return (Double(newPrice) / Double(oldPrice) - 1) * 100
    }

    /// Whether the price rises or falls by more than a half, which can be a mistake in the unit.
    package var isLarge: Bool { percent.map { abs($0) > 50 } ?? false }
}

extension ActionLedger {
    /// The prices that the rows to send of a batch change, by descending number of rows; none for an action that
    /// changes no price.
    package func priceChanges(of batch: ActionBatch) async throws -> [PriceChange] {
        let (app, job) = (app, job)
        guard job.action.columns.contains(where: { $0.name == "items" }) else { return [] }
        return try await ledger.transaction(.readOnlySnapshot) { connection in
            try connection.run(.countPriceChanges, ["app": .integer(app.rawValue), "batch": .uuid(batch.id)]).map {
                row in
                PriceChange(
                    sku: try row.text("sku"),
                    currency: try row.textOrNil("currency"),
                    oldPrice: try row.int64OrNil("old_price"),
                    newPrice: try row.int64("new_price"),
                    rows: try row.int64("rows")
                )
            }
        }
    }
}
