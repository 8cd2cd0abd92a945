/// A column of a Parquet file.
package struct ParquetColumn: Equatable, Sendable {
    /// The type of a column's values; every column can contain NULL.
    package enum ValueType: Equatable, Sendable {
        case boolean
        /// A signed integer of 32 bits.
        case int32
        /// A signed integer of 64 bits.
        case int64
        /// Microseconds since 1970-01-01T00:00:00Z, of type TIMESTAMP with `isAdjustedToUTC`.
        case timestamp
        /// Days since 1970-01-01.
        case date
        /// UTF-8.
        case text
    }

    package let name: String
    package let type: ValueType

    package init(name: String, type: ValueType) {
        self.name = name
        self.type = type
    }
}
