import CLibCSV

/// Rows as RFC 4180 in memory.
///
/// Texts are always quoted, so an empty text is `""`; NULL is an empty cell without quotes. A text that a spreadsheet
/// would run as a formula gets an apostrophe in front. Lines end in CR LF.
///
/// Noncopyable: it has exactly one owner.
@safe
package struct CSVRows: ~Copyable {
    private let columnCount: Int
    private var buffer: UnsafeMutableRawBufferPointer
    private var used = 0
    private var cellsInRow = 0
    /// The number of rows without the header, also of those that are no longer here.
    package private(set) var rowCount = 0

    private static let chunk = 65_536

    /// - Parameter columnCount: At least one. With only one, a row with NULL would be a blank line.
    package init(columnCount: Int) {
        precondition(columnCount > 0, "a table has columns")
        self.columnCount = columnCount
        unsafe buffer = .allocate(byteCount: 2 * Self.chunk, alignment: 1)
    }

    deinit { unsafe buffer.deallocate() }

    /// The number of bytes so far.
    package var byteCount: Int { used }

    /// The bytes so far, which are then no longer here.
    package mutating func take() -> [UInt8] {
        defer { used = 0 }
        return unsafe Array(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
    }

    /// Calls `body` with the bytes so far.
    mutating func withBytes<Value, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe body(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
    }

    mutating func removeAll() {
        used = 0
    }

    /// Appends the header, which must be the first row.
    ///
    /// - Throws: ``CSVError``: `columnCountMismatch`.
    package mutating func appendHeader(_ columns: [String]) throws(CSVError) {
        for column in columns { append(literal: column.utf8.span) }
        try endRow()
        rowCount = 0
    }

    package mutating func appendNull() {
        beginCell(longest: 0)
    }

    /// Appends a text cell.
    ///
    /// - Parameter text: UTF-8. All characters are written.
    package mutating func append(text: Span<UInt8>) {
        beginCell(longest: 2 * text.count + 3)
        quote(text, isDefused: startsFormula(text))
    }

    /// Appends a number, a moment or a boolean, which is not treated as a formula even with a leading `-`.
    ///
    /// - Parameter literal: Not empty. It is quoted only when necessary.
    package mutating func append(literal: Span<UInt8>) {
        beginCell(longest: 2 * literal.count + 2)
        if needsQuotes(literal) {
            quote(literal, isDefused: false)
        } else {
            unsafe literal.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(from: source)
            }
            used += literal.count
        }
    }

    /// Ends the row.
    ///
    /// - Throws: ``CSVError``: `columnCountMismatch`.
    package mutating func endRow() throws(CSVError) {
        guard cellsInRow == columnCount else {
            throw .columnCountMismatch(row: rowCount + 1, found: cellsInRow, expected: columnCount)
        }
        append(byte: UInt8(ascii: "\r"))
        append(byte: UInt8(ascii: "\n"))
        cellsInRow = 0
        rowCount += 1
    }

    /// Writes the comma, and ensures room for the cell, the comma and a line end.
    private mutating func beginCell(longest: Int) {
        let needed = used + longest + 3
        if unsafe needed > buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * needed, alignment: 1)
            unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<used]))
            unsafe buffer.deallocate()
            unsafe buffer = larger
        }
        if cellsInRow > 0 { append(byte: UInt8(ascii: ",")) }
        cellsInRow += 1
    }

    private mutating func append(byte: UInt8) {
        unsafe buffer[used] = byte
        used += 1
    }

    private mutating func quote(_ text: Span<UInt8>, isDefused: Bool) {
        let start = used
        // The apostrophe is inside the quotes: libcsv writes one byte later, and the opening quote is moved before it.
        let shift = isDefused ? 1 : 0
        let size = unsafe text.withUnsafeBytes { source in
            // An empty span has no address, and for a null pointer libcsv would write nothing, not even quotes.
            var nothing: UInt8 = 0
            return unsafe withUnsafePointer(to: &nothing) { placeholder in
                unsafe csv_write2(
                    buffer.baseAddress?.advanced(by: start + shift),
                    buffer.count - start - shift,
                    source.baseAddress ?? UnsafeRawPointer(placeholder),
                    source.count,
                    UInt8(CSV_QUOTE)
                )
            }
        }
        if isDefused {
            unsafe buffer[start] = UInt8(CSV_QUOTE)
            unsafe buffer[start + 1] = UInt8(ascii: "'")
        }
        used = start + shift + size
    }
}
