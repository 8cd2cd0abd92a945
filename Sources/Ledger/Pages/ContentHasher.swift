import LedgerSchema
import Postgres
import SignedData

/// Hashes the content of a row of ``LedgerSchema/Tables/snapshots``; the row stores the hash as `content_hash`.
///
/// The hash has eight bytes. It covers all columns except the signing date and the payload, and also the payload
/// without its signing date. So a crawl recognises a record that Apple has only signed again, and a replay recognises a
/// row that it would write unchanged. Two contents have the same hash with a probability of 1 in 2^64. A trigger in
/// PostgreSQL clears the hash when anything else changes the row.
struct ContentHasher {
    static let column = Column("content_hash", .bytea)

    /// One buffer for all rows, to avoid an allocation for each.
    private var cells = CellEncoder(capacity: 4_096)
    /// The number of leading columns that the hash covers.
    private let contentColumns: Int

    /// - Parameter table: The table of the rows.
    init(of table: Table) {
        contentColumns = table.columns.count - Tables.snapshotColumns.count
    }

    /// - Parameter snapshot: A snapshot of the table.
    /// - Returns: A cell of ``column``.
    /// - Throws: ``Postgres/PostgresError`` if PostgreSQL cannot store a cell.
    mutating func hash(of snapshot: Snapshot) throws(PostgresError) -> Cell {
        cells.removeAll()
        for cell in snapshot.row.prefix(contentColumns) { try cells.append(cell) }
        cells.append(raw: snapshot.contentDigest)
        return .bytea(Array(SHA256.digest(of: cells.bytes).prefix(8)))
    }
}
