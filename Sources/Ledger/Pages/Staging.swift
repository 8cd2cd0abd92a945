import AppStoreModel
import LedgerTables
import Postgres

/// The types under which rows travel to the statements that merge them; each session makes those it needs, once.
///
/// They were temporary tables once. A commit empties every temporary table of its session, used or not, and builds its
/// empty index anew: more than half of what PostgreSQL took for a page.
enum Staging {
    /// The tables whose newest snapshot wins, in the order every transaction merges them, so that two hardly ever deadlock.
    static let snapshotTables = [Tables.transactions, Tables.refunds, Tables.renewals, Tables.notifications]

    /// Makes the types that `rows` need; outside a transaction, whose rollback would take them away.
    static func prepare(for rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) {
        for table in snapshotTables where rows.snapshots.contains(where: { $0.table == table }) {
            try connection.makeRowType(name(of: table), of: hashed(table).columns)
            let names = SnapshotNames(of: table).table
            try connection.makeRowType(name(of: names), of: names.columns)
        }
        let sendAttempts = Tables.notificationSendAttempts
        if !rows.sendAttempts.isEmpty { try connection.makeRowType(name(of: sendAttempts), of: sendAttempts.columns) }
        if !rows.archive.isEmpty {
            try connection.makeRowType(name(of: archive), of: archive.columns)
            try connection.makeRowType(name(of: archiveNames), of: archiveNames.columns)
        }
    }

    /// The raw archive's columns as they are sent; `header_id` stands for the header's text.
    static let archive = Table(
        "signed_payloads",
        key: ["kind", "record_key", "signed_date", "payload_sha256"],
        columns: [
            Column("kind", .text), Column("record_key", .text), Column("signed_date", .timestamptz),
            Column("payload_sha256", .bytea), Column("is_refund", .boolean), Column("header_id", .integer),
            Column("payload", .bytea), Column("signature", .bytea),
        ]
    )

    /// The raw archive's key, and whether refund history returned the payload.
    static let archiveNames = Table(
        "signed_payloads_names",
        key: archive.key,
        columns: Array(archive.columns.prefix(5))
    )

    /// A snapshot table with the hash of each row.
    static func hashed(_ table: Table) -> Table {
        Table(table.name, key: table.key, columns: table.columns + [ContentHasher.column])
    }

    static func rows(_ rows: [Row], of table: Table) -> RowArray { RowArray(of: name(of: table), rows) }

    /// As the table `s`, the rows that are a statement's parameter, and the place of each as `ordinality`.
    static func from(_ parameter: String, of table: Table) -> String {
        "unnest(\(parameter)::pg_temp.\(name(of: table))[]) WITH ORDINALITY s"
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

/// The few columns of a snapshot table that tell one snapshot from another, and which of two wins.
///
/// For a replay also the hash of what it would write, and whether it would write rows of other tables.
struct SnapshotNames {
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
            columns: places.map { table.columns[$0] } + [ContentHasher.column, Column("owns_rows", .boolean)]
        )
    }

    func rows(_ snapshots: [Snapshot]) -> RowArray {
        Staging.rows(snapshots.map { name($0, .null, .null) }, of: table)
    }

    /// - Parameters:
    ///   - snapshots: Of the table.
    ///   - issues: The odd fields of these, and of others.
    /// - Returns: What a replay asks with.
    /// - Throws: ``Postgres/PostgresError`` of a cell that PostgreSQL cannot store.
    func hashedRows(_ snapshots: [Snapshot], issues: [FieldIssue]) throws(PostgresError) -> RowArray {
        let kind = Tables.recordKind(of: origin)
        let odd = Set(issues.filter { $0.kind == kind }.map { ExactText($0.recordKey) })
        var hasher = try ContentHasher(of: origin)
        var rows: [Row] = []
        rows.reserveCapacity(snapshots.count)
        for snapshot in snapshots {
            let owns = snapshot.children.contains { !$0.rows.isEmpty } || odd.contains(ExactText(snapshot.key))
            rows.append(name(snapshot, try hasher.hash(of: snapshot.row), .boolean(owns)))
        }
        return Staging.rows(rows, of: table)
    }

    private func name(_ snapshot: Snapshot, _ hash: Cell, _ ownsRows: Cell) -> Row {
        places.map { snapshot.row[$0] } + [hash, ownsRows]
    }
}
