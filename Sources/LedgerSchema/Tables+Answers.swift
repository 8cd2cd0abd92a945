/// Tables for what Apple answers without signing it.
///
/// Each row has the time of the answer in `asked_at`, and the newest answer wins.
extension Tables {
    /// Apple's status of each subscription.
    package static let subscriptionStatuses = Table(
        "subscription_statuses",
        key: ["original_transaction_id"],
        columns: [
            Column("original_transaction_id", .text),
            Column("subscription_group_identifier", .text),
            Column("status", .integer),
            Column("transaction_id", .text),
        ]
    )

    /// The result of each order lookup.
    package static let orders = Table(
        "orders",
        key: ["order_id"],
        columns: [Column("order_id", .text), Column("status", .integer)]
    )

    /// The transactions of each order.
    package static let orderTransactions = Table(
        "order_transactions",
        key: ["order_id", "transaction_id"],
        columns: [Column("order_id", .text), Column("transaction_id", .text)]
    )
}
