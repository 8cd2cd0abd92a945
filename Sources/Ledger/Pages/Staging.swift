import LedgerTables

/// Temporary tables that rows are copied into before they are merged; one set a connection, emptied by every commit.
enum Staging {
    /// The tables whose newest snapshot wins, in the order every transaction merges them, so that two never deadlock.
    static let snapshotTables = [Tables.transactions, Tables.refunds, Tables.renewals, Tables.notifications]

    static let createTables: String = {
        let plain = [Tables.notificationSendAttempts, archive]
        return (snapshotTables + plain)
            .map { table in
                let columns = table.columns.map { "\"\($0.name)\" \($0.type.rawValue)" }.joined(separator: ", ")
                return "CREATE TEMP TABLE \(name(of: table)) (\(columns)) ON COMMIT DELETE ROWS;"
            }
            .joined(separator: "\n")
            + "\nCREATE TEMP TABLE stage_ids (item_key text NOT NULL) ON COMMIT DELETE ROWS;"
    }()

    /// The raw archive's columns as they are staged; `header_id` stands for the header's text.
    static let archive = Table(
        "signed_payloads",
        key: ["kind", "record_key", "signed_date", "payload_sha256"],
        columns: [
            Column("kind", .text), Column("record_key", .text), Column("signed_date", .timestamptz),
            Column("payload_sha256", .bytea), Column("header_id", .integer), Column("payload", .bytea),
            Column("signature", .bytea), Column("is_refund", .boolean),
        ]
    )

    static func name(of table: Table) -> String { "stage_\(table.name)" }
}
