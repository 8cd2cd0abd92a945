/// The PostgreSQL types StoreLedger uses.
package enum ColumnType: String, Sendable {
    case text
    case integer
    case bigint
    case boolean
    /// A moment; cells have UNIX milliseconds.
    case timestamptz
    case jsonb
    case uuid
    case textArray = "text[]"
    case bytea
}

/// A column of a table.
package struct Column: Hashable, Sendable {
    package let name: String
    package let type: ColumnType

    package init(_ name: String, _ type: ColumnType) {
        self.name = name
        self.type = type
    }
}
