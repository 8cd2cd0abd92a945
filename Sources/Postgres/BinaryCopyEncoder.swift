package import LedgerTables

/// Writes rows as the binary format of `COPY … FROM STDIN (FORMAT binary)` into one buffer that is used again.
///
/// Source: PostgreSQL manual, `COPY`, "Binary Format".
package struct BinaryCopyEncoder {
    private var cells = CellEncoder(capacity: 80 * 1_024)
    private let width: Int
    /// The cells that end every row, as they are sent.
    private let ending: [UInt8]
    private let endingWidth: Int
    private let digest: ((Span<UInt8>) -> [UInt8])?
    package private(set) var rowCount = 0

    /// - Parameters:
    ///   - width: Cells in each row that is appended.
    ///   - digest: Makes a `bytea` that follows these from their bytes as they are sent.
    ///   - constants: Cells that end every row, written once.
    /// - Throws: ``PostgresError`` of a constant that PostgreSQL cannot store.
    package init(
        width: Int,
        digest: ((Span<UInt8>) -> [UInt8])? = nil,
        constants: Row = []
    ) throws(PostgresError) {
        self.width = width
        self.digest = digest
        var ending = CellEncoder(capacity: 64)
        for cell in constants { try ending.append(cell) }
        self.ending = ending.bytes
        endingWidth = constants.count
        cells.append(raw: Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00])
        cells.append(Int32(0))  // flags
        cells.append(Int32(0))  // length of the header's extension
    }

    /// What was encoded since ``removeBytes()``.
    package var bytes: [UInt8] { cells.bytes }

    package mutating func removeBytes() { cells.removeAll() }

    package mutating func append(_ row: Row) throws(PostgresError) {
        cells.append(Int16(truncatingIfNeeded: width + (digest == nil ? 0 : 1) + endingWidth))
        if let digest = try appendCells(of: row) { try cells.append(.bytea(digest)) }
        cells.append(raw: ending)
        rowCount += 1
    }

    /// The digest that ``append(_:)`` would write behind the row's cells; nothing is appended.
    ///
    /// - Parameter row: As for ``append(_:)``.
    /// - Returns: `nil` when this encoder makes no digests.
    /// - Throws: ``PostgresError`` of a cell that PostgreSQL cannot store.
    package mutating func digest(of row: Row) throws(PostgresError) -> [UInt8]? {
        let start = cells.bytes.count
        defer { cells.removeAll(from: start) }
        return try appendCells(of: row)
    }

    /// - Returns: The digest of what was appended.
    private mutating func appendCells(of row: Row) throws(PostgresError) -> [UInt8]? {
        precondition(row.count == width, "a row of \(row.count) cells for \(width) columns")
        let start = cells.bytes.count
        for cell in row { try cells.append(cell) }
        return digest.map { digest in digest(cells.bytes.span.extracting(start...)) }
    }

    package mutating func appendTrailer() {
        cells.append(Int16(-1))
    }
}
