import Postgres

extension AnswerKind {
    /// Apple's status of a subscription.
    package static let subscriptionStatus = AnswerKind(
        table: Tables.subscriptionStatuses,
        customers: [TableColumn(table: Tables.subscriptionStatuses, name: "original_transaction_id")],
        volatile: ["records_signed_date"]
    )
}

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
            Column("records_signed_date", .timestamptz),
            // NULL in each answer that has the subscription.
            Column("ended_at", .timestamptz),
        ],
        addedColumns: ["ended_at", "records_signed_date"]
    )
}
