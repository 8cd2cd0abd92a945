import Postgres

extension AnswerKind {
    /// The result of an order lookup, with the transactions of the order.
    package static let order = AnswerKind(
        table: Tables.orders,
        children: [Tables.orderTransactions],
        customers: [TableColumn(table: Tables.orderTransactions, name: "transaction_id")]
    )
}

extension Tables {
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
