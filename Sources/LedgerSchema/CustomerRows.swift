/// How an erasure finds the rows of one customer in a table.
///
/// ``all`` has every table of the schema, so that an erasure forgets none; a test compares it with the database and with the
/// rights in `sql/roles.sql`.
package enum CustomerRows: Sendable {
    /// By columns with the customer's keys.
    case keyed([KeyColumn])
    /// By the customer's item keys, whatever the job and stream.
    case items
    /// Every row of the app; they are not counted.
    case everyRow

    // What only a function of `CustomerRemoval` can express.

    /// Hashes of IDs in texts, by the keys of the rows with the texts.
    case quotedIDs
    /// By item key, and by the IDs that the text quotes.
    case rejectedRecords
    /// By transaction ID and by notification. Rows of a receiver's first eight days are cleared, not deleted.
    case receivedNotifications
    /// By the IDs in the cells and values of a row; the rows are cleared, not deleted.
    case actionRows
    /// Cells with an ID are cleared, and no row is deleted.
    case inputCells
    /// Paths with an ID are deleted, and samples cleared.
    case schemaDrift
    /// Messages with an ID are cleared, and no row is deleted.
    case runMessages

    /// Deleted by the function of another table.
    case deleted(with: String)
    /// No row is changed.
    case kept(because: String)

    /// A column with customers' keys; an index begins with the app, the column of the kind if there is one, and this column.
    package struct KeyColumn: Sendable {
        package let name: String
        package let keys: CustomerKeys
        /// The kind of the records whose rows these are, and its column.
        package let kind: (column: String, value: String)?
    }

    private static func by(_ columns: KeyValuePairs<String, CustomerKeys>) -> CustomerRows {
        by(columns.map { ($0.key, $0.value) })
    }

    private static func by(_ columns: [(column: String, keys: CustomerKeys)]) -> CustomerRows {
        .keyed(columns.map { KeyColumn(name: $0.column, keys: $0.keys, kind: nil) })
    }
}

/// The keys of a customer's rows.
package enum CustomerKeys: Sendable {
    /// Transaction IDs, original transaction IDs and listed IDs.
    case transactions
    /// ``transactions``, and the transaction IDs of refunds.
    case transactionsAndRefunds
    case appTransactions
    case orders
    /// Notification UUIDs.
    case notifications
}

extension RecordKind {
    /// The keys of a customer's records.
    fileprivate var customerKeys: CustomerKeys {
        switch self {
        case .transaction: .transactionsAndRefunds
        case .renewalInfo: .transactions
        case .notification: .notifications
        case .appTransaction: .appTransactions
        }
    }
}

extension CustomerRows {
    package typealias Declaration = (table: String, rows: CustomerRows)

    /// All tables but `refresh_…`, from which `forget_erased` and the next refresh remove a customer.
    package static let all = records + others + kept

    /// The tables of records and answers, in the order in which an erasure deletes from them.
    package static let records: [Declaration] =
        [
            ("transactions", by(["transaction_id": .transactions])),
            ("refunds", by(["transaction_id": .transactionsAndRefunds])),
            ("renewals", by(["original_transaction_id": .transactions])),
            ("notifications", by(["notification_uuid": .notifications])),
            ("app_transactions", by(["app_transaction_id": .appTransactions])),
        ]
        + AnswerKind.all.flatMap { kind in
            (kind.children + [kind.table]).map { table in (table.name, by(kind.customerKeys)) }
        }

    /// The other tables with customers' data, in the order in which an erasure changes them after ``records``.
    package static let others: [Declaration] = [
        ("advanced_commerce_items", ofOwners),
        ("advanced_commerce_refunds", ofOwners),
        ("seat_price_tiers", ofOwners),
        ("notification_send_attempts", by(["notification_uuid": .notifications])),
        ("quoted_ids", .quotedIDs),
        ("unread_texts", .deleted(with: "quoted_ids")),
        ("signed_payloads", ofRecords),
        ("latest_signatures", ofRecords),
        ("field_issues", ofRecords),
        ("rejected_records", .rejectedRecords),
        ("changed_customers", by(["transaction_id": .transactions, "app_transaction_id": .appTransactions])),
        ("received_notifications", .receivedNotifications),
        (
            "forwards",
            by(["customer": .transactions, "customer": .appTransactions, "notification_uuid": .notifications])
        ),
        ("crawl_items", .items),
        ("coverage_gaps", .items),
        // The place that the removal of old records has reached is a record's key. The next one begins at the beginning.
        ("retention_progress", .everyRow),
        ("action_rows", .actionRows),
        ("action_input_rows", .inputCells),
        ("action_attempts", .deleted(with: "action_rows")),
        // What was removed from the tables before decides which samples are cleared.
        ("schema_drift", .schemaDrift),
        ("runs", .runMessages),
    ]

    /// The rows of records in a table for all kinds.
    private static let ofRecords = keyed(
        RecordKind.allCases.map {
            KeyColumn(name: "record_key", keys: $0.customerKeys, kind: ("kind", $0.rawValue))
        }
    )

    /// The rows that belong to a record.
    private static let ofOwners = keyed(
        RecordKind.allCases.compactMap { kind in
            kind.ownerKind.map { KeyColumn(name: "owner_key", keys: kind.customerKeys, kind: ("owner_kind", $0)) }
        }
    )

    private static let kept: [Declaration] = [
        ("apps", .kept(because: "it has no customers")),
        ("products", .kept(because: "the user's own settings")),
        ("exchange_rates", .kept(because: "the user's own settings")),
        ("proceeds_rules", .kept(because: "the user's own settings")),
        ("product_periods", .kept(because: "it has one row for each product")),
        ("signing_headers", .kept(because: "thousands of records have the same header")),
        ("quarantined_records", .kept(because: "a foreign key deletes its rows after rejected_records")),
        ("erasure_keys", .kept(because: "tombstones")),
        ("erased_marks", .kept(because: "tombstones")),
        ("stale_statistics", .kept(because: "it has only names of tables")),
        ("change_exports", .kept(because: "it has only the state of exports")),
        ("changed_rows", .kept(because: "the next part of a change export tells its readers which rows are gone")),
        ("jobs", .kept(because: "it has only names of jobs")),
        ("planned_streams", .kept(because: "it has only filters of streams")),
        ("run_processes", .kept(because: "it has only processes")),
        ("rate_scopes", .kept(because: "it only counts requests")),
        ("rate_buckets", .kept(because: "it only counts requests")),
        ("notification_reconciliation", .kept(because: "it only counts notifications")),
        ("action_batches", .kept(because: "what a batch says of customers is in action_rows")),
        ("action_policy_approvals", .kept(because: "it has only policies")),
        ("action_jobs", .kept(because: "it has only names of jobs")),
        ("erasure_lock", .kept(because: "it has no columns")),
        ("migration_lock", .kept(because: "it has no columns")),
        ("schema_migrations", .kept(because: "it has only the state of the schema")),
        ("schema_definitions", .kept(because: "it has only the state of the schema")),
        ("schema_views", .kept(because: "it has only the state of the schema")),
    ]
}
