import LedgerSchema
import Postgres
import SignedData

/// Says in eight bytes what a row of ``LedgerSchema/Tables/snapshots`` says of its record; the row keeps them as
/// `content_hash`.
///
/// They cover every column but the date of the signature and the payload, and the payload without the date of its
/// signature. So a crawl recognises a record that Apple has only signed again, and a replay recognises a row that it would
/// write in the same way. Another content has the same hash once in 2^64. PostgreSQL forgets the hash of a row that
/// anything else changes.
struct ContentHasher {
    static let column = Column("content_hash", .bytea)

    /// One buffer for all rows.
    private var cells = CellEncoder(capacity: 4_096)
    private let width: Int

    /// - Parameter table: The table of the rows.
    init(of table: Table) {
        width = table.columns.count - Tables.snapshotColumns.count
    }

    /// - Parameter snapshot: Of the table.
    /// - Returns: A cell of ``column``.
    /// - Throws: ``Postgres/PostgresError`` of a cell that PostgreSQL cannot store.
    mutating func hash(of snapshot: Snapshot) throws(PostgresError) -> Cell {
        cells.removeAll()
        for cell in snapshot.row.prefix(width) { try cells.append(cell) }
        cells.append(raw: snapshot.contentDigest)
        return .bytea(Array(SHA256.digest(of: cells.bytes).prefix(8)))
    }
}
