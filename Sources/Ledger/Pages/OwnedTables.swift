import LedgerTables

extension Tables {
    /// Tables whose rows belong to one snapshot of a transaction or a renewal, and are replaced with it.
    static let owned = [advancedCommerceItems, advancedCommerceRefunds]

    /// What `owner_kind` says of a table's rows; `nil` where rows own none.
    static func ownerKind(of table: Table) -> String? {
        switch table {
        case transactions: "transaction"
        case renewals: "renewal"
        default: nil
        }
    }

    /// What the archive calls the signed payload behind a row of a snapshot table.
    static func payloadKind(of table: Table) -> String { recordKind(of: table) ?? "transaction" }

    /// What `field_issues` calls the records of a table; `nil` for refunds, which are transactions once more.
    static func recordKind(of table: Table) -> String? {
        switch table {
        case transactions: "transaction"
        case renewals: "renewalInfo"
        case notifications: "notification"
        default: nil
        }
    }
}
