/// The tables that Apple's records become; `sql/migrations/0001_app_store_records.sql` creates them.
package enum Tables {
    /// Every table, those that others refer to first.
    package static let all = snapshots + children + evidence

    /// The tables of ``Snapshot/table``.
    package static let snapshots = [transactions, refunds, renewals, notifications]

    /// The tables whose rows belong to a row of another.
    package static let children = [notificationSendAttempts, advancedCommerceItems, advancedCommerceRefunds]

    /// What proves the rest, and what is missing from it.
    package static let evidence = [signedPayloads, schemaDrift, fieldIssues, rejectedRecords]

    /// How the columns of every snapshot table end.
    package static let snapshotColumns = [
        Column("signed_date", .timestamptz),
        Column("payload_sha256", .bytea),
        Column("payload", .jsonb),
    ]
}
