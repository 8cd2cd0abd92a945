/// The values of one column in one row group.
///
/// Values are collected into pages. A full page is encoded and compressed at once, so memory contains one page and the
/// compressed pages before it.
struct ColumnChunk {
    private static let rowsPerPage = 20_000
    private static let bytesPerPage = 1_048_576

    let column: ParquetColumn
    /// Of the page that is being filled: 1 for a value, 0 for NULL.
    private var levels: [UInt32] = []
    /// Of the page that is being filled, in PLAIN encoding, without the lengths of texts; one byte for a boolean.
    private var values = ByteStrings()
    private var dictionary = ValueDictionary()
    /// Whether further pages use the dictionary.
    private var hasDictionary: Bool
    /// Compressed data pages with their headers.
    private var pages: [UInt8] = []
    private var uncompressedBytes = 0
    private var encodings: Set<Encoding> = [.rle]
    private var rowCount = 0
    private var nullCount = 0
    private var bounds = ValueBounds()

    init(_ column: ParquetColumn) {
        self.column = column
        hasDictionary = column.type != .boolean
    }

    /// The bytes of the compressed pages.
    var compressedBytes: Int { pages.count }

    /// Whether the page has enough rows or bytes to be encoded.
    var isPageFull: Bool { levels.count >= Self.rowsPerPage || values.bytes.count >= Self.bytesPerPage }

    mutating func appendNull() {
        levels.append(0)
        nullCount += 1
    }

    /// - Parameter integer: In the range of the column's type; 0 or 1 for a boolean.
    mutating func append(_ integer: Int64) {
        precondition(column.type != .text, "the column holds text")
        levels.append(1)
        values.append(integer, count: max(1, column.type.integerWidth))
        if column.type != .boolean { bounds.extend(by: integer) }
    }

    mutating func append(_ text: Span<UInt8>) {
        precondition(column.type == .text, "the column does not hold text")
        levels.append(1)
        values.append(text)
        bounds.extend(by: text)
    }

    /// Encodes and compresses the page that is being filled.
    mutating func endPage(_ zstandard: borrowing Zstandard) throws(ParquetError) {
        guard !levels.isEmpty else { return }
        var page: [UInt8] = []
        var encodedLevels: [UInt8] = []
        encodeRunLengths(levels, bitWidth: 1, into: &encodedLevels)
        page.appendLittleEndian(Int64(encodedLevels.count), count: 4)
        page += encodedLevels
        let encoding = appendValues(to: &page)
        encodings.insert(encoding)
        try pages.append(page, .data, encoding, valueCount: levels.count, zstandard, &uncompressedBytes)
        rowCount += levels.count
        levels.removeAll(keepingCapacity: true)
        values.removeAll()
    }

    private mutating func appendValues(to page: inout [UInt8]) -> Encoding {
        guard column.type != .boolean else {
            page.appendBits(values.bytes)
            return .plain
        }
        if hasDictionary, !values.isEmpty {
            if let indices = dictionary.indices(of: values) {
                // One bit even for a single value: not every reader accepts a width of 0.
                let bitWidth = max(1, Int.bitWidth - (dictionary.values.count - 1).leadingZeroBitCount)
                page.append(UInt8(bitWidth))
                encodeRunLengths(indices, bitWidth: bitWidth, into: &page)
                return .rleDictionary
            }
            hasDictionary = false
        }
        page.appendPlain(values, column.type)
        return .plain
    }

    /// Ends the chunk, whose first byte is at `offset` in the file: the dictionary page and the data pages.
    consuming func finish(
        at offset: Int,
        _ zstandard: borrowing Zstandard
    ) throws(ParquetError) -> (bytes: [UInt8], metadata: ColumnChunkMetadata) {
        try endPage(zstandard)
        var bytes: [UInt8] = []
        if encodings.contains(.rleDictionary) {
            var page: [UInt8] = []
            page.appendPlain(dictionary.values, column.type)
            encodings.insert(.plain)
            try bytes.append(
                page,
                .dictionary,
                .plain,
                valueCount: dictionary.values.count,
                zstandard,
                &uncompressedBytes
            )
        }
        let dataOffset = offset + bytes.count
        bytes += pages
        let metadata = ColumnChunkMetadata(
            encodings: encodings,
            valueCount: rowCount,
            nullCount: nullCount,
            bounds: bounds.encoded(width: column.type.integerWidth),
            uncompressedBytes: uncompressedBytes,
            compressedBytes: bytes.count,
            dictionaryOffset: dataOffset == offset ? nil : offset,
            dataOffset: dataOffset
        )
        return (bytes, metadata)
    }
}

extension [UInt8] {
    /// Compresses a page, and appends it with its header.
    fileprivate mutating func append(
        _ page: [UInt8],
        _ type: PageType,
        _ encoding: Encoding,
        valueCount: Int,
        _ zstandard: borrowing Zstandard,
        _ uncompressedBytes: inout Int
    ) throws(ParquetError) {
        let compressed = try zstandard.compressed(page)
        let header = pageHeader(
            type,
            encoding,
            valueCount: valueCount,
            uncompressedBytes: page.count,
            compressedBytes: compressed.count
        ).bytes
        self += header
        self += compressed
        uncompressedBytes += header.count + page.count
    }

    /// Appends values in PLAIN encoding; texts get their length in front.
    fileprivate mutating func appendPlain(_ values: ByteStrings, _ type: ParquetColumn.ValueType) {
        guard type == .text else {
            self += values.bytes
            return
        }
        reserveCapacity(count + values.bytes.count + 4 * values.count)
        for index in 0..<values.count {
            let range = values.range(index)
            appendLittleEndian(Int64(range.count), count: 4)
            append(contentsOf: values.bytes[range])
        }
    }

    /// Appends booleans in PLAIN encoding: one bit each, the lowest first.
    fileprivate mutating func appendBits(_ booleans: [UInt8]) {
        for start in stride(from: 0, to: booleans.count, by: 8) {
            var byte: UInt8 = 0
            for index in start..<Swift.min(start + 8, booleans.count) { byte |= booleans[index] << (index - start) }
            append(byte)
        }
    }
}
