import Platform

/// Writes ``CSVRows`` to a file descriptor, in pieces of about 64 KiB.
///
/// Noncopyable: it has exactly one owner. It does not close the descriptor. Rows that were not flushed are lost: call
/// ``flush()`` at the end, then `fsync`.
@safe
package struct CSVWriter: ~Copyable {
    private let descriptor: Int32
    private var rows: CSVRows

    private static let chunk = 65_536

    /// Starts a file with its header, which is in the first write.
    ///
    /// - Parameters:
    ///   - fileDescriptor: Open for writing for the lifetime of the writer; the caller closes it.
    ///   - columns: At least one. With only one, a row with NULL would be a blank line.
    /// - Throws: ``CSVError``: `cannotWrite`, when the header alone fills the buffer and cannot be written.
    package init(fileDescriptor: Int32, columns: [String]) throws(CSVError) {
        descriptor = fileDescriptor
        rows = CSVRows(columnCount: columns.count)
        try rows.appendHeader(columns)
        if rows.byteCount >= Self.chunk { try flush() }
    }

    /// The number of rows so far, without the header.
    package var rowCount: Int { rows.rowCount }

    package mutating func appendNull() {
        rows.appendNull()
    }

    /// Appends a text cell.
    ///
    /// - Parameter text: UTF-8. All characters are written.
    package mutating func append(text: Span<UInt8>) {
        rows.append(text: text)
    }

    /// Appends a number, a moment or a boolean, which is not treated as a formula even with a leading `-`.
    ///
    /// - Parameter literal: Not empty. It is quoted only when necessary.
    package mutating func append(literal: Span<UInt8>) {
        rows.append(literal: literal)
    }

    /// Ends the row.
    ///
    /// - Throws: ``CSVError``: `columnCountMismatch`, or `cannotWrite` when the full buffer cannot be written.
    package mutating func endRow() throws(CSVError) {
        try rows.endRow()
        if rows.byteCount >= Self.chunk { try flush() }
    }

    /// Writes the buffered rows.
    ///
    /// - Throws: ``CSVError``: `cannotWrite`, for example when the disk is full. The file is then incomplete.
    package mutating func flush() throws(CSVError) {
        let descriptor = descriptor
        try unsafe rows.withBytes { (bytes) throws(CSVError) in
            var written = 0
            while written < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = unsafe write(descriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    written += count
                } else if count == 0 || errno != EINTR {
                    throw .cannotWrite(errno: count == 0 ? EIO : errno)
                }
            }
        }
        rows.removeAll()
    }
}
