import LedgerTables
import Postgres

/// The types under which rows travel to the statements that merge them; each session makes those it needs, once.
///
/// They were temporary tables once. A commit empties every temporary table of its session, used or not, and builds its
/// empty index anew: more than half of what PostgreSQL took for a page.
enum Staging {
    /// The tables whose newest snapshot wins, in the order every transaction merges them, so that two never deadlock.
    static let snapshotTables = [Tables.transactions, Tables.refunds, Tables.renewals, Tables.notifications]

    /// Makes the types that `rows` need; outside a transaction, whose rollback would take them away.
    static func prepare(for rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) {
        for table in snapshotTables where rows.snapshots.contains(where: { $0.table == table }) {
            try connection.makeRowType(name(of: table), of: table.columns)
        }
        let sendAttempts = Tables.notificationSendAttempts
        if !rows.sendAttempts.isEmpty { try connection.makeRowType(name(of: sendAttempts), of: sendAttempts.columns) }
        if !rows.archive.isEmpty { try connection.makeRowType(name(of: archive), of: archive.columns) }
        try connection.makeRowType(name(of: snapshotNames), of: snapshotNames.columns)
    }

    /// The raw archive's columns as they are sent; `header_id` stands for the header's text.
    static let archive = Table(
        "signed_payloads",
        key: ["kind", "record_key", "signed_date", "payload_sha256"],
        columns: [
            Column("kind", .text), Column("record_key", .text), Column("signed_date", .timestamptz),
            Column("payload_sha256", .bytea), Column("header_id", .integer), Column("payload", .bytea),
            Column("signature", .bytea), Column("is_refund", .boolean),
        ]
    )

    /// What tells one snapshot of a table from another.
    static let snapshotNames = Table(
        "snapshot_names",
        key: ["key", "payload_sha256"],
        columns: [Column("key", .text), Column("payload_sha256", .bytea)]
    )

    static func rows(_ rows: [Row], of table: Table) -> RowArray { RowArray(of: name(of: table), rows) }

    /// As the table `s`, the rows that are a statement's parameter.
    static func from(_ parameter: String, of table: Table) -> String {
        "unnest(\(parameter)::pg_temp.\(name(of: table))[]) s"
    }

    /// The listed IDs of a run that is planned, in a temporary table of every session.
    ///
    /// Whoever fills it empties it: were that left to COMMIT, every commit of the session would do it.
    static let createIDs = "CREATE TEMP TABLE stage_ids (item_key text NOT NULL);"

    /// For the transaction that filled it.
    static func emptyIDs(on connection: borrowing PostgresConnection) throws(PostgresError) {
        try connection.script("TRUNCATE stage_ids")
    }

    private static func name(of table: Table) -> String { "stage_\(table.name)" }
}
