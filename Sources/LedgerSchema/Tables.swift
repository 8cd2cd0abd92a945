package import Postgres

/// The tables for Apple's records; `sql/migrations/0001_tables.sql` creates them.
package enum Tables {
    /// All tables.
    ///
    /// Tables that others refer to come first.
    package static let all = snapshots + children + answers + evidence

    /// The tables with one row for each record: its newest ``Snapshot``.
    package static let snapshots = [transactions, refunds, renewals, notifications, appTransactions]

    /// The tables whose rows belong to a row of another table.
    package static let children = [
        notificationSendAttempts, advancedCommerceItems, advancedCommerceRefunds, seatPriceTiers,
    ]

    /// The tables of ``AnswerKind/all``: what Apple answers without signing it, and what belongs to it.
    package static let answers = AnswerKind.all.flatMap { [$0.table] + $0.children }

    /// The signed originals of the rows, and what the rows lack: unknown or unusable fields, and rejected records.
    package static let evidence = [signedPayloads, schemaDrift, fieldIssues, rejectedRecords]

    /// The last columns of every snapshot table.
    package static let snapshotColumns = [
        Column("signed_date", .timestamptz),
        Column("payload_sha256", .bytea),
        Column("payload", .jsonb),
    ]
}
