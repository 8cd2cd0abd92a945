import Platform

/// Writes rows as a Parquet file to a file descriptor.
///
/// Flat columns, all of them optional; dictionaries where values repeat, Zstandard, and statistics of each column chunk.
/// A row group is written when it has a million rows or its compressed pages have 64 MiB, so the memory does not grow
/// with the file.
///
/// Noncopyable: it has exactly one owner. It does not close the descriptor. A file is complete after ``finish()``.
package struct ParquetWriter: ~Copyable {
    package static let rowsPerGroup = 1_000_000

    private static let bytesPerGroup = 67_108_864
    private static let magic = Array("PAR1".utf8)

    private let descriptor: Int32
    private let columns: [ParquetColumn]
    private let keyValues: [(key: String, value: String)]
    private let createdBy: String
    private let rowsPerGroup: Int
    private let zstandard = Zstandard()
    private var chunks: [ColumnChunk]
    private var nextColumn = 0
    private var rowsInGroup = 0
    private var groups: [ThriftStruct] = []
    private var offset = 0
    /// The number of rows so far.
    package private(set) var rowCount = 0

    /// Starts a file.
    ///
    /// - Parameters:
    ///   - fileDescriptor: Open for writing for the lifetime of the writer; the caller closes it.
    ///   - columns: At least one.
    ///   - keyValues: The file's metadata in pairs.
    ///   - createdBy: The program, `NAME version VERSION`.
    ///   - rowsPerGroup: The most rows of a row group.
    /// - Throws: ``ParquetError/cannotWrite(errno:)``.
    package init(
        fileDescriptor: Int32,
        columns: [ParquetColumn],
        keyValues: [(key: String, value: String)],
        createdBy: String,
        rowsPerGroup: Int = Self.rowsPerGroup
    ) throws(ParquetError) {
        precondition(!columns.isEmpty, "a table has columns")
        descriptor = fileDescriptor
        self.columns = columns
        self.keyValues = keyValues
        self.createdBy = createdBy
        self.rowsPerGroup = rowsPerGroup
        chunks = columns.map(ColumnChunk.init)
        try write(Self.magic)
    }

    package mutating func appendNull() {
        chunks[nextColumn].appendNull()
        nextColumn += 1
    }

    package mutating func append(_ boolean: Bool) {
        append(boolean ? 1 : 0)
    }

    /// Appends an integer, a moment in microseconds or a date in days.
    ///
    /// - Parameter integer: In the range of the column's type.
    package mutating func append(_ integer: Int64) {
        chunks[nextColumn].append(integer)
        nextColumn += 1
    }

    /// - Parameter text: UTF-8.
    package mutating func append(_ text: Span<UInt8>) {
        chunks[nextColumn].append(text)
        nextColumn += 1
    }

    /// Ends the row, which must have a value or NULL for each column.
    package mutating func endRow() throws(ParquetError) {
        precondition(nextColumn == columns.count, "a row has \(nextColumn) of \(columns.count) values")
        nextColumn = 0
        rowsInGroup += 1
        rowCount += 1
        var compressedBytes = 0
        for index in chunks.indices {
            if chunks[index].isPageFull { try chunks[index].endPage(zstandard) }
            compressedBytes += chunks[index].compressedBytes
        }
        if rowsInGroup == rowsPerGroup || compressedBytes >= Self.bytesPerGroup { try endGroup() }
    }

    /// Writes the last row group and the metadata.
    package consuming func finish() throws(ParquetError) -> Int {
        if rowsInGroup > 0 { try endGroup() }
        let footer = fileMetadata(
            columns,
            rowGroups: groups,
            rowCount: rowCount,
            keyValues: keyValues,
            createdBy: createdBy
        ).bytes
        var end = footer
        end.appendLittleEndian(Int64(footer.count), count: 4)
        try write(end + Self.magic)
        return rowCount
    }

    private mutating func endGroup() throws(ParquetError) {
        var finished: [(column: ParquetColumn, metadata: ColumnChunkMetadata)] = []
        for index in chunks.indices {
            let chunk = chunks[index]
            chunks[index] = ColumnChunk(columns[index])
            let (bytes, metadata) = try chunk.finish(at: offset, zstandard)
            try write(bytes)
            finished.append((columns[index], metadata))
        }
        groups.append(rowGroup(finished, rowCount: rowsInGroup))
        rowsInGroup = 0
    }

    private mutating func write(_ bytes: [UInt8]) throws(ParquetError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Platform.write(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw .cannotWrite(errno: count == 0 ? EIO : errno)
            }
        }
        offset += bytes.count
    }
}
