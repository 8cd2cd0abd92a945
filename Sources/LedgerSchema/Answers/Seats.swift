import Postgres

extension AnswerKind {
    /// The seats of a subscription, with the claims that have one.
    package static let seats = AnswerKind(
        table: Tables.seats,
        children: [Tables.seatClaims],
        customers: [TableColumn(table: Tables.seats, name: "original_transaction_id")]
    )
}

extension Tables {
    /// The seats of each subscription.
    package static let seats = Table(
        "seats",
        key: ["original_transaction_id"],
        columns: [
            Column("original_transaction_id", .text),
            Column("total_seat_count", .integer),
            Column("available_seat_count", .integer),
        ]
    )

    /// The claims of seats.
    package static let seatClaims = Table(
        "seat_claims",
        key: ["seat_claim_id"],
        columns: [Column("seat_claim_id", .text), Column("original_transaction_id", .text)]
    )

    /// The price tiers of seats; children of `transactions` and `renewals`.
    package static let seatPriceTiers = Table(
        "seat_price_tiers",
        key: ["owner_kind", "owner_key", "position"],
        columns: [
            Column("owner_kind", .text),
            Column("owner_key", .text),
            Column("position", .integer),
            Column("price_milliunits", .bigint),
            Column("quantity", .integer),
            Column("currency", .text),
        ]
    )
}
