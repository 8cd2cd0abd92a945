/// Writes rows in the binary format of `COPY … FROM STDIN (FORMAT binary)` into one reused buffer.
///
/// Source: PostgreSQL manual, `COPY`, "Binary Format".
package struct BinaryCopyEncoder {
    private var cells = CellEncoder(capacity: 80 * 1_024)
    private let width: Int
    /// The encoded cells at the end of every row.
    private let ending: [UInt8]
    private let endingWidth: Int
    package private(set) var rowCount = 0

    /// - Parameters:
    ///   - width: The number of cells in each appended row.
    ///   - constants: Cells at the end of every row; they are encoded once.
    /// - Throws: ``PostgresError`` for a constant that PostgreSQL cannot store.
    package init(width: Int, constants: Row = []) throws(PostgresError) {
        self.width = width
        var ending = CellEncoder(capacity: 64)
        for cell in constants { try ending.append(cell) }
        self.ending = ending.bytes
        endingWidth = constants.count
        cells.append(raw: Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00])
        cells.append(Int32(0))  // flags
        cells.append(Int32(0))  // length of the header's extension
    }

    /// The bytes encoded since ``removeBytes()``.
    package var bytes: [UInt8] { cells.bytes }

    package mutating func removeBytes() { cells.removeAll() }

    package mutating func append(_ row: Row) throws(PostgresError) {
        precondition(row.count == width, "a row of \(row.count) cells for \(width) columns")
        cells.append(Int16(truncatingIfNeeded: width + endingWidth))
        for cell in row { try cells.append(cell) }
        cells.append(raw: ending)
        rowCount += 1
    }

    package mutating func appendTrailer() {
        cells.append(Int16(-1))
    }
}
