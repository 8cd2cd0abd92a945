import AppStoreModel
import LedgerSchema
package import Postgres
import StrictJSON

/// The types of the array parameters that carry rows to the merge statements.
///
/// Each session creates the types it needs once.
///
/// Temporary tables would be slower: a commit empties every temporary table of its session, used or not, and rebuilds
/// its empty index. That took more than half of PostgreSQL's time for a page.
package enum Staging {
    /// The tables in which the newest snapshot wins.
    ///
    /// Every transaction merges them in this order, which makes deadlocks rare.
    static let snapshotTables = Tables.snapshots

    /// Creates the types that `rows` need.
    ///
    /// Call this outside a transaction, because a rollback would remove them.
    static func prepare(for rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) {
        for table in snapshotTables where rows.snapshots.contains(where: { $0.table == table }) {
            try prepare(table, on: connection)
        }
        for table in Tables.answers where rows.answers.contains(where: { $0.has(rowsOf: table) }) {
            try connection.makeRowType(name(of: table), of: table.columns)
        }
        let sendAttempts = Tables.notificationSendAttempts
        if !rows.sendAttempts.isEmpty { try connection.makeRowType(name(of: sendAttempts), of: sendAttempts.columns) }
        if !rows.archive.isEmpty { try prepareArchive(on: connection) }
    }

    /// Creates the types for signed records of every kind.
    ///
    /// Call this outside a transaction, because a rollback would remove them.
    package static func prepareForRecords(on connection: borrowing PostgresConnection) throws(PostgresError) {
        for table in snapshotTables { try prepare(table, on: connection) }
        try prepareArchive(on: connection)
    }

    private static func prepare(_ table: Table, on connection: borrowing PostgresConnection) throws(PostgresError) {
        try connection.makeRowType(name(of: table), of: hashed(table).columns)
        let names = SnapshotIdentities(of: table).table
        try connection.makeRowType(name(of: names), of: names.columns)
        try connection.makeRowType(name(of: latestSignatures), of: latestSignatures.columns)
    }

    private static func prepareArchive(on connection: borrowing PostgresConnection) throws(PostgresError) {
        try connection.makeRowType(name(of: archive), of: archive.columns)
        try connection.makeRowType(name(of: archiveIdentities), of: archiveIdentities.columns)
    }

    /// The columns of the raw archive.
    static let archive = Table(
        "signed_payloads",
        key: ["kind", "record_key", "signed_date", "payload_sha256"],
        columns: [
            Column("kind", .text), Column("record_key", .text), Column("signed_date", .timestamptz),
            Column("payload_sha256", .bytea), Column("is_refund", .boolean), Column("header_id", .integer),
            Column("payload", .bytea), Column("signature", .bytea),
        ]
    )

    /// The raw archive's key, and whether the payload came from refund history.
    static let archiveIdentities = Table(
        "signed_payloads_names",
        key: archive.key,
        columns: Array(archive.columns.prefix(5))
    )

    /// The newest signatures of contents that were signed again.
    static let latestSignatures = Table(
        "latest_signatures",
        key: ["kind", "record_key", "first_payload_sha256"],
        columns: [
            Column("kind", .text), Column("record_key", .text), Column("first_payload_sha256", .bytea),
            Column("signed_date", .timestamptz), Column("payload_sha256", .bytea), Column("header_id", .integer),
            Column("signature", .bytea), Column("payload", .bytea),
        ]
    )

    /// A snapshot table with the hash of each row.
    static func hashed(_ table: Table) -> Table {
        Table(table.name, key: table.key, columns: table.columns + [ContentHasher.column])
    }

    static func rows(_ rows: [Row], of table: Table) -> RowArray { RowArray(of: name(of: table), rows) }

    /// A FROM item, named `s`, for the rows in a statement's parameter; its column `ordinality` is the place of each
    /// row.
    static func from(_ parameter: String, of table: Table) -> String {
        "unnest(\(parameter)::pg_temp.\(name(of: table))[]) WITH ORDINALITY s"
    }

    private static func name(of table: Table) -> String { "stage_\(table.name)" }
}

/// The columns that identify a snapshot and decide which of two wins.
///
/// In a replay, one more column says whether the snapshot has rows for other tables. The last one says whether other signatures
/// of the page have facts that the snapshot leaves out.
struct SnapshotIdentities {
    let table: Table
    private let origin: Table
    private let places: [Int]

    init(of table: Table) {
        let names = table.key + ["signed_date", "revocation_date", "payload_sha256"]
        places = table.columns.indices.filter { names.contains(table.columns[$0].name) }
        origin = table
        self.table = Table(
            "\(table.name)_names",
            key: table.key,
            columns: places.map { table.columns[$0] } + [
                ContentHasher.column, Column("owns_rows", .boolean), Column("adds_facts", .boolean),
            ]
        )
    }

    /// - Parameters:
    ///   - snapshots: Snapshots of the table.
    ///   - hashes: The ``ContentHasher/hash(of:)`` of each; `nil` if only the identities matter.
    ///   - issues: Field issues, also of other snapshots; only for a replay.
    /// - Returns: The parameter of ``MergeSQL/triage(_:mode:)`` and ``MergeSQL/lockSnapshots(_:)``.
    func rows(_ snapshots: [Snapshot], hashes: [Cell]? = nil, issues: [FieldIssue]? = nil) -> RowArray {
        let kind = RecordKind(of: origin)
        let keysWithIssues = issues.map { Set($0.filter { $0.kind == kind }.map { ExactText($0.recordKey) }) }
        let rows = snapshots.indices.map { place -> Row in
            let snapshot = snapshots[place]
            let ownsRows = keysWithIssues.map { keys -> Cell in
                .boolean(snapshot.children.contains { !$0.rows.isEmpty } || keys.contains(ExactText(snapshot.key)))
            }
            return places.map { snapshot.row[$0] } + [
                hashes?[place] ?? .null, ownsRows ?? .null, .boolean(!snapshot.addedFacts.isEmpty),
            ]
        }
        return Staging.rows(rows, of: table)
    }
}
