// The numbers and structs of Parquet's metadata. Source: parquet.thrift of the Parquet format 2.11.

/// parquet.thrift, `Encoding`.
enum Encoding: Int32 {
    case plain = 0
    /// Run lengths and bit packing.
    case rle = 3
    /// Indices in the dictionary of the column chunk.
    case rleDictionary = 8
}

/// parquet.thrift, `PageType`.
enum PageType: Int32 {
    case data = 0
    case dictionary = 2
}

/// What the metadata says of a column chunk.
struct ColumnChunkMetadata {
    let encodings: Set<Encoding>
    /// The number of rows, with those that are NULL.
    let valueCount: Int
    let nullCount: Int
    let bounds: (least: [UInt8], greatest: [UInt8])?
    /// With page headers.
    let uncompressedBytes: Int
    /// With page headers.
    let compressedBytes: Int
    /// Positions in the file.
    let dictionaryOffset: Int?
    let dataOffset: Int

    /// `ColumnChunk` with its `ColumnMetaData`.
    func chunk(of column: ParquetColumn) -> ThriftStruct {
        var metadata = ThriftStruct()
        metadata.append(1, column.type.physicalType)
        metadata.append(2, encodings.map(\.rawValue).sorted())
        metadata.append(3, [column.name])
        metadata.append(4, zstandardCodec)
        metadata.append(5, Int64(valueCount))
        metadata.append(6, Int64(uncompressedBytes))
        metadata.append(7, Int64(compressedBytes))
        metadata.append(9, Int64(dataOffset))
        if let dictionaryOffset { metadata.append(11, Int64(dictionaryOffset)) }
        metadata.append(12, statistics)
        var chunk = ThriftStruct()
        // `file_offset` is deprecated; 0 is what the format asks writers for.
        chunk.append(2, Int64(0))
        chunk.append(3, metadata)
        return chunk
    }

    /// `Statistics`, without the deprecated `min` and `max`.
    private var statistics: ThriftStruct {
        var statistics = ThriftStruct()
        statistics.append(3, Int64(nullCount))
        if let bounds {
            statistics.append(5, bounds.greatest)
            statistics.append(6, bounds.least)
        }
        return statistics
    }
}

/// parquet.thrift, `CompressionCodec.ZSTD`.
private let zstandardCodec: Int32 = 6

/// `PageHeader`.
///
/// `valueCount` is the rows of a data page or the values of a dictionary page. The bytes count the page without its
/// header.
func pageHeader(
    _ type: PageType,
    _ encoding: Encoding,
    valueCount: Int,
    uncompressedBytes: Int,
    compressedBytes: Int
) -> ThriftStruct {
    var header = ThriftStruct()
    header.append(1, type.rawValue)
    header.append(2, Int32(uncompressedBytes))
    header.append(3, Int32(compressedBytes))
    var details = ThriftStruct()
    details.append(1, Int32(valueCount))
    details.append(2, encoding.rawValue)
    switch type {
    case .data:
        // The encodings of definition and repetition levels.
        details.append(3, Encoding.rle.rawValue)
        details.append(4, Encoding.rle.rawValue)
        header.append(5, details)
    case .dictionary:
        header.append(7, details)
    }
    return header
}

/// `RowGroup`.
func rowGroup(_ chunks: [(column: ParquetColumn, metadata: ColumnChunkMetadata)], rowCount: Int) -> ThriftStruct {
    var group = ThriftStruct()
    group.append(1, chunks.map { $0.metadata.chunk(of: $0.column) })
    group.append(2, Int64(chunks.reduce(0) { $0 + $1.metadata.uncompressedBytes }))
    group.append(3, Int64(rowCount))
    return group
}

/// `FileMetaData`.
func fileMetadata(
    _ columns: [ParquetColumn],
    rowGroups: [ThriftStruct],
    rowCount: Int,
    keyValues: [(key: String, value: String)],
    createdBy: String
) -> ThriftStruct {
    var root = ThriftStruct()
    root.append(4, "schema")
    root.append(5, Int32(columns.count))
    var file = ThriftStruct()
    file.append(1, Int32(1))
    file.append(2, [root] + columns.map(\.schemaElement))
    file.append(3, Int64(rowCount))
    file.append(4, rowGroups)
    file.append(
        5,
        keyValues.map { key, value in
            var pair = ThriftStruct()
            pair.append(1, key)
            pair.append(2, value)
            return pair
        }
    )
    file.append(6, createdBy)
    // `ColumnOrder.TYPE_ORDER`, without which readers must ignore the bounds.
    var order = ThriftStruct()
    order.append(1, ThriftStruct())
    file.append(7, columns.map { _ in order })
    return file
}

extension ParquetColumn {
    /// `SchemaElement`.
    fileprivate var schemaElement: ThriftStruct {
        var element = ThriftStruct()
        element.append(1, type.physicalType)
        // `FieldRepetitionType.OPTIONAL`
        element.append(3, Int32(1))
        element.append(4, name)
        if let convertedType = type.convertedType { element.append(6, convertedType) }
        if let logicalType = type.logicalType { element.append(10, logicalType) }
        return element
    }
}

extension ParquetColumn.ValueType {
    /// parquet.thrift, `Type`.
    fileprivate var physicalType: Int32 {
        switch self {
        case .boolean: 0
        case .int32, .date: 1
        case .int64, .timestamp: 2
        case .text: 6
        }
    }

    /// The bytes of an integer; 0 for other types.
    var integerWidth: Int {
        switch self {
        case .int32, .date: 4
        case .int64, .timestamp: 8
        case .boolean, .text: 0
        }
    }

    /// parquet.thrift, `ConvertedType`, for readers that do not know `LogicalType`.
    fileprivate var convertedType: Int32? {
        switch self {
        case .text: 0
        case .date: 6
        case .timestamp: 10
        case .boolean, .int32, .int64: nil
        }
    }

    /// parquet.thrift, `LogicalType`, a union.
    fileprivate var logicalType: ThriftStruct? {
        var type = ThriftStruct()
        switch self {
        case .text: type.append(1, ThriftStruct())
        case .date: type.append(6, ThriftStruct())
        case .timestamp:
            var microseconds = ThriftStruct()
            microseconds.append(2, ThriftStruct())
            var timestamp = ThriftStruct()
            // `isAdjustedToUTC`
            timestamp.append(1, true)
            timestamp.append(2, microseconds)
            type.append(8, timestamp)
        case .boolean, .int32, .int64: return nil
        }
        return type
    }
}
