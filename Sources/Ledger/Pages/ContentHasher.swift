import LedgerTables
import Postgres
import SignedData

/// Says in eight bytes what is written into a row of ``LedgerTables/Tables/snapshots``; the row keeps them as `content_hash`.
///
/// A replay knows by them, without sending a row, that the ledger has it exactly so. Another reading of the same payload
/// has the same hash once in 2^64. PostgreSQL forgets the hash of a row that anything else changes.
struct ContentHasher {
    static let column = Column("content_hash", .bytea)

    /// From a row's cells as they are sent, in the order of the table's columns.
    static func hash(of bytes: Span<UInt8>) -> [UInt8] { Array(SHA256.digest(of: bytes).prefix(8)) }

    /// Has one buffer for all rows.
    private var encoder: BinaryCopyEncoder

    /// - Parameter table: Whose rows they are.
    /// - Throws: Nothing in truth: only constants could be refused, and there are none.
    init(of table: Table) throws(PostgresError) {
        encoder = try BinaryCopyEncoder(width: table.columns.count, digest: Self.hash)
    }

    /// - Parameter row: Cells in the order of the table's columns.
    /// - Returns: A cell of ``column``.
    /// - Throws: ``Postgres/PostgresError`` of a cell that PostgreSQL cannot store.
    mutating func hash(of row: Row) throws(PostgresError) -> Cell {
        try encoder.digest(of: row).map(Cell.bytea) ?? .null
    }
}
