import Postgres

extension Tables {
    /// The raw archive.
    package static let signedPayloads = Table(
        "signed_payloads",
        key: ["kind", "record_key", "signed_date", "payload_sha256"],
        columns: [
            Column("kind", .text),
            Column("record_key", .text),
            Column("signed_date", .timestamptz),
            Column("payload_sha256", .bytea),
            Column("payload", .bytea),
            Column("signature", .bytea),
        ]
    )

    /// Fields and values that StoreLedger does not know.
    package static let schemaDrift = Table(
        "schema_drift",
        key: ["kind", "path"],
        columns: [
            Column("kind", .text),
            Column("path", .text),
            Column("sample", .text),
        ]
    )

    /// Known fields whose values differ from the documentation.
    package static let fieldIssues = Table(
        "field_issues",
        key: ["kind", "record_key", "path"],
        columns: [
            Column("kind", .text),
            Column("record_key", .text),
            Column("path", .text),
            Column("found", .text),
            Column("signed_date", .timestamptz),
        ]
    )

    /// Records that could not be loaded; the ledger assigns `record_id`.
    package static let rejectedRecords = Table(
        "rejected_records",
        key: ["record_id"],
        columns: [
            Column("reason", .text),
            Column("detail", .text),
            Column("sha256", .bytea),
            Column("raw", .bytea),
        ]
    )
}
