import Hashing
import LedgerSchema
import Postgres

/// Hashes the content of a row of ``LedgerSchema/Tables/snapshots``; the row stores the hash as `content_hash`.
///
/// The hash has eight bytes. It covers all columns except the signing date and the payload, and also the payload
/// without its signing date. So a crawl recognises a record that Apple has only signed again, and a replay recognises a
/// row that it would write unchanged. Two contents have the same hash with a probability of 1 in 2^64. A trigger in
/// PostgreSQL clears the hash when anything else changes the row.
///
/// A column of ``LedgerSchema/Table/addedColumns`` counts only when it is not NULL, so the rows that were written before
/// the column existed keep their hash. A row whose record has the field gets another hash: the next replay fills the column.
struct ContentHasher {
    static let column = Column("content_hash", .bytea)

    /// One buffer for all rows, to avoid an allocation for each.
    private var cells = CellEncoder(capacity: 4_096)
    /// The places of the columns that always count.
    private let places: [Int]
    /// The places of the signing dates of app transactions, which the hash covers as NULL.
    private let signingDates: Set<Int>
    /// The places and names of the added columns.
    private let added: [(place: Int, name: String)]

    init(of table: Table) {
        let columns = table.columns.dropLast(Tables.snapshotColumns.count)
        places = columns.indices.filter { !table.addedColumns.contains(columns[$0].name) }
        signingDates = Set(columns.indices.filter { columns[$0].name.hasSuffix("receipt_creation_date") })
        added = columns.indices.filter { table.addedColumns.contains(columns[$0].name) }.map { ($0, columns[$0].name) }
    }

    /// - Parameter snapshot: A snapshot of the table.
    /// - Returns: A cell of ``column``.
    /// - Throws: ``Postgres/PostgresError`` if PostgreSQL cannot store a cell.
    mutating func hash(of snapshot: Snapshot) throws(PostgresError) -> Cell {
        cells.removeAll()
        for place in places { try cells.append(signingDates.contains(place) ? .null : snapshot.row[place]) }
        for (place, name) in added where snapshot.row[place] != .null {
            try cells.append(.text(name))
            try cells.append(snapshot.row[place])
        }
        cells.append(raw: snapshot.contentDigest)
        return .bytea(Array(SHA256.digest(of: cells.bytes).prefix(8)))
    }
}
