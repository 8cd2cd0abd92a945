import CLibCSV
import Glibc

/// Writes rows as RFC 4180 to a file descriptor, in pieces of about 64 KiB.
///
/// Texts are always quoted, so an empty text is `""`; NULL is an empty cell without quotes. A text that a spreadsheet
/// would run as a formula gets an apostrophe in front. Lines end in CR LF.
///
/// Noncopyable: it has exactly one owner. It does not close the descriptor. Rows that were not flushed are lost: call
/// ``flush()`` at the end, then `fsync`.
@safe
package struct CSVWriter: ~Copyable {
    private let descriptor: Int32
    private let columnCount: Int
    private var buffer: UnsafeMutableRawBufferPointer
    private var used = 0
    private var cellsInRow = 0
    /// The number of rows so far, without the header.
    package private(set) var rowCount = 0

    private static let chunk = 65_536

    /// Starts a file with its header, which is in the first write.
    ///
    /// - Parameters:
    ///   - fileDescriptor: Open for writing for the lifetime of the writer; the caller closes it.
    ///   - columns: At least one. With only one, a row with NULL would be a blank line.
    /// - Throws: ``CSVError``: `cannotWrite`, when the header alone fills the buffer and cannot be written.
    package init(fileDescriptor: Int32, columns: [String]) throws(CSVError) {
        precondition(!columns.isEmpty, "a table has columns")
        descriptor = fileDescriptor
        columnCount = columns.count
        unsafe buffer = .allocate(byteCount: 2 * Self.chunk, alignment: 1)
        for column in columns { append(literal: column.utf8.span) }
        try endRow()
        rowCount = 0
    }

    deinit { unsafe buffer.deallocate() }

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
    /// - Throws: ``CSVError``: `columnCountMismatch`, or `cannotWrite` when the full buffer cannot be written.
    package mutating func endRow() throws(CSVError) {
        guard cellsInRow == columnCount else {
            throw .columnCountMismatch(row: rowCount + 1, found: cellsInRow, expected: columnCount)
        }
        append(byte: UInt8(ascii: "\r"))
        append(byte: UInt8(ascii: "\n"))
        cellsInRow = 0
        rowCount += 1
        if used >= Self.chunk { try flush() }
    }

    /// Writes the buffered rows.
    ///
    /// - Throws: ``CSVError``: `cannotWrite`, for example when the disk is full. The file is then incomplete.
    package mutating func flush() throws(CSVError) {
        var written = 0
        while written < used {
            let count = unsafe write(descriptor, buffer.baseAddress?.advanced(by: written), used - written)
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw .cannotWrite(errno: count == 0 ? EIO : errno)
            }
        }
        used = 0
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
