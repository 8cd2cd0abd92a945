import Postgres

extension AnswerKind {
    /// A group of a customer.
    package static let customerGroup = AnswerKind(
        table: Tables.customerGroups,
        customers: [
            TableColumn(table: Tables.customerGroups, name: "listed_transaction_id"),
            TableColumn(table: Tables.customerGroups, name: "app_transaction_id", keys: .appTransactions),
        ],
        // Several listed IDs of one customer get the same answer.
        volatile: ["listed_transaction_id"]
    )

    /// A member of a group.
    package static let groupMember = AnswerKind(
        table: Tables.groupMembers,
        customers: [TableColumn(table: Tables.groupMembers, name: "app_transaction_id", keys: .appTransactions)]
    )
}

extension Tables {
    /// The groups of each listed customer.
    package static let customerGroups = Table(
        "customer_groups",
        key: ["group_id", "app_transaction_id"],
        columns: [
            Column("group_id", .text),
            Column("app_transaction_id", .text),
            Column("listed_transaction_id", .text),
            Column("group_type", .text),
            Column("role_product_ids", .textArray),
            Column("roles", .textArray),
        ]
    )

    /// The members of each known group.
    package static let groupMembers = Table(
        "group_members",
        key: ["group_id", "app_transaction_id"],
        columns: [Column("group_id", .text), Column("app_transaction_id", .text)]
    )
}
