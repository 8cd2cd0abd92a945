/// The kinds of record that Apple signs, under the names that the archive, `field_issues` and `schema_drift` use.
package enum RecordKind: String, CaseIterable, Sendable {
    case transaction
    case renewalInfo
    case notification
    case appTransaction

    /// Apple's field that identifies a record of the kind.
    package var keyField: String {
        switch self {
        case .transaction: "transactionId"
        case .renewalInfo: "originalTransactionId"
        case .notification: "notificationUUID"
        case .appTransaction: "appTransactionId"
        }
    }

    /// The table that has the newest snapshot of each record.
    package var table: Table {
        switch self {
        case .transaction: Tables.transactions
        case .renewalInfo: Tables.renewals
        case .notification: Tables.notifications
        case .appTransaction: Tables.appTransactions
        }
    }

    /// What `owner_kind` says in the rows of ``children``.
    package var ownerKind: String? {
        switch self {
        case .transaction: "transaction"
        case .renewalInfo: "renewal"
        case .notification, .appTransaction: nil
        }
    }

    /// Tables whose rows belong to one snapshot of a record and are replaced with it.
    package var children: [Table] {
        ownerKind == nil
            ? [] : [Tables.advancedCommerceItems, Tables.advancedCommerceRefunds, Tables.seatPriceTiers]
    }

    /// Columns that the masked views leave out, because they identify a customer or carry the whole payload.
    package var maskedColumns: [String] {
        let identifying: [String] =
            switch self {
            case .transaction: ["app_account_token"]
            case .renewalInfo: ["app_account_token", "advanced_commerce_consistency_token"]
            case .notification:
                [
                    "app_account_token", "external_purchase_id", "app_transaction_device_verification",
                    "app_transaction_device_verification_nonce",
                ]
            case .appTransaction: ["device_verification", "device_verification_nonce"]
            }
        return identifying + ["payload_sha256", "payload", "content_hash"]
    }

    /// Whether a record has other signed records in its payload.
    package var nestsRecords: Bool { self == .notification }

    /// The kind whose newest snapshots a table has.
    ///
    /// `nil` for `refunds`, whose records are in `transactions` too.
    package init?(of table: Table) {
        guard let kind = Self.allCases.first(where: { $0.table == table }) else { return nil }
        self = kind
    }

    /// The kind of the signed payload behind a row of a snapshot table; the payloads of `refunds` are transactions.
    package static func ofPayloads(in table: Table) -> RecordKind { RecordKind(of: table) ?? .transaction }
}
