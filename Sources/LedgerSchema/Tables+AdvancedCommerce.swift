import Postgres

extension Tables {
    /// Line items of Advanced Commerce purchases; children of `transactions` and `renewals`.
    package static let advancedCommerceItems = Table(
        "advanced_commerce_items",
        key: ["owner_kind", "owner_key", "position"],
        columns: [
            Column("owner_kind", .text),
            Column("owner_key", .text),
            Column("position", .integer),
            Column("sku", .text),
            Column("description", .text),
            Column("display_name", .text),
            Column("price_milliunits", .bigint),
            Column("currency", .text),
            Column("revocation_date", .timestamptz),
            Column("offer_period", .text),
            Column("offer_period_count", .integer),
            Column("offer_price_milliunits", .bigint),
            Column("offer_reason", .text),
            Column("price_increase_price_milliunits", .bigint),
            Column("price_increase_status", .text),
            Column("price_increase_dependent_skus", .textArray),
        ]
    )

    /// Refunds of line items; children of `transactions`.
    package static let advancedCommerceRefunds = Table(
        "advanced_commerce_refunds",
        key: ["owner_kind", "owner_key", "item_position", "position"],
        columns: [
            Column("owner_kind", .text),
            Column("owner_key", .text),
            Column("item_position", .integer),
            Column("position", .integer),
            Column("refund_date", .timestamptz),
            Column("refund_amount_milliunits", .bigint),
            Column("currency", .text),
            Column("refund_type", .text),
            Column("refund_reason", .text),
        ]
    )
}
