import LedgerSchema
import Postgres

/// The price tiers of the seats of one transaction, or of its next renewal.
enum SeatPriceTierRows {
    /// - Returns: The rows; none also for a record without tiers, because a snapshot replaces the rows of the previous one.
    static func children(of kind: RecordKind, _ ownerKey: String, _ reading: RecordReading) -> ChildRows {
        let tiers = (reading.lists["priceTiers"] ?? []) + (reading.lists["renewalPriceTiers"] ?? [])
        let rows = tiers.map { tier in
            tier.reading.row(
                of: Tables.seatPriceTiers,
                [
                    ("owner_kind", .text(kind.ownerKind ?? kind.rawValue)), ("owner_key", .text(ownerKey)),
                    ("position", .integer(Int32(tier.position))), ("currency", reading["currency"]),
                ]
            )
        }
        return ChildRows(table: Tables.seatPriceTiers, rows: rows)
    }
}
