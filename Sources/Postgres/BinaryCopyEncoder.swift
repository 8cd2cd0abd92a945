package import LedgerTables

/// Writes rows as the binary format of `COPY … FROM STDIN (FORMAT binary)` into one buffer that is used again.
///
/// Source: PostgreSQL manual, `COPY`, "Binary Format".
package struct BinaryCopyEncoder {
    private var cells = CellEncoder(capacity: 80 * 1_024)
    private let width: Int
    package private(set) var rowCount = 0

    /// - Parameter width: Cells in each row.
    package init(width: Int) {
        self.width = width
        cells.append(raw: Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00])
        cells.append(Int32(0))  // flags
        cells.append(Int32(0))  // length of the header's extension
    }

    /// What was encoded since ``removeBytes()``.
    package var bytes: [UInt8] { cells.bytes }

    package mutating func removeBytes() { cells.removeAll() }

    package mutating func append(_ row: Row) throws(PostgresError) {
        precondition(row.count == width, "a row of \(row.count) cells for \(width) columns")
        cells.append(Int16(truncatingIfNeeded: width))
        for cell in row { try cells.append(cell) }
        rowCount += 1
    }

    package mutating func appendTrailer() {
        cells.append(Int16(-1))
    }
}
