/// One value of a PostgreSQL column.
package enum Cell: Hashable, Sendable {
    case null
    case text(String)
    case integer(Int32)
    case bigint(Int64)
    case boolean(Bool)
    /// UNIX milliseconds.
    case timestamp(Int64)
    /// UTF-8 JSON text that `StrictJSON` has accepted.
    case jsonb([UInt8])
    /// Sixteen bytes.
    case uuid([UInt8])
    case textArray([String])
    case bytea([UInt8])
}

/// The cells of one row, in the order of its columns.
package typealias Row = [Cell]
