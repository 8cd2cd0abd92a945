import Basics

/// One row of a result; columns are read by name.
///
/// Every method throws ``PostgresError`` (`unexpectedResult`) when the column is missing or of another type. Methods
/// without `OrNil` in their name also throw when it is NULL.
package struct PostgresRow {
    let rows: PostgresRows
    let index: Int

    package func isNull(_ column: String) throws(PostgresError) -> Bool {
        rows.isNull(index, try place(of: column))
    }

    package func text(_ column: String) throws(PostgresError) -> String { try required(column, textOrNil(column)) }
    package func int64(_ column: String) throws(PostgresError) -> Int64 { try required(column, int64OrNil(column)) }
    package func int32(_ column: String) throws(PostgresError) -> Int32 { try required(column, int32OrNil(column)) }
    package func bool(_ column: String) throws(PostgresError) -> Bool { try required(column, boolOrNil(column)) }
    /// UNIX milliseconds of a `timestamptz`, rounded down.
    package func timestamp(_ column: String) throws(PostgresError) -> Int64 {
        try required(column, timestampOrNil(column))
    }
    /// The bytes of a `bytea`.
    package func bytes(_ column: String) throws(PostgresError) -> [UInt8] { try required(column, bytesOrNil(column)) }
    /// The UTF-8 bytes of a value of any type, as PostgreSQL prints it.
    package func utf8(_ column: String) throws(PostgresError) -> [UInt8] { try required(column, utf8OrNil(column)) }
    package func textArray(_ column: String) throws(PostgresError) -> [String] {
        try required(column, textArrayOrNil(column))
    }

    package func textOrNil(_ column: String) throws(PostgresError) -> String? {
        try read(column, "text") { bytes, _ in String(copying: bytes) }
    }

    package func int64OrNil(_ column: String) throws(PostgresError) -> Int64? {
        try read(column, "a 64-bit integer") { integer($0, $1) }
    }

    package func int32OrNil(_ column: String) throws(PostgresError) -> Int32? {
        try read(column, "a 32-bit integer") { integer($0, $1) }
    }

    package func boolOrNil(_ column: String) throws(PostgresError) -> Bool? {
        try read(column, "a boolean") { bytes, format in
            switch format {
            case .text: ["t": true, "f": false][String(copying: bytes)]
            case .binary: bytes.count == 1 ? bytes[0] != 0 : nil
            }
        }
    }

    package func timestampOrNil(_ column: String) throws(PostgresError) -> Int64? {
        try read(column, "a timestamptz") { bytes, format in
            switch format {
            case .text: unixMilliseconds(printed: [UInt8](copying: bytes))
            case .binary: integer(bytes, .binary).flatMap(unixMilliseconds(microsecondsSince2000:))
            }
        }
    }

    package func bytesOrNil(_ column: String) throws(PostgresError) -> [UInt8]? {
        try read(column, "a bytea") { bytes, format in
            switch format {
            case .text: byteaValue(printed: [UInt8](copying: bytes))
            case .binary: [UInt8](copying: bytes)
            }
        }
    }

    package func utf8OrNil(_ column: String) throws(PostgresError) -> [UInt8]? {
        try read(column, "text") { bytes, _ in [UInt8](copying: bytes) }
    }

    package func textArrayOrNil(_ column: String) throws(PostgresError) -> [String]? {
        try read(column, "a text[] without NULL") { bytes, format in
            format == .text ? textArrayValue(printed: [UInt8](copying: bytes)) : nil
        }
    }

    private func place(of column: String) throws(PostgresError) -> Int {
        guard let place = rows.column(column) else { throw unexpected("there is no column \"\(column)\"") }
        return place
    }

    private func read<Value>(
        _ column: String,
        _ expected: String,
        _ decode: (Span<UInt8>, ValueFormat) -> Value?
    ) throws(PostgresError) -> Value? {
        let place = try place(of: column)
        let format = rows.format(place)
        guard let decoded = rows.withValue(index, place, { decode($0, format) }) else { return nil }
        // The message does not contain the value, which can be customer data.
        guard let decoded else { throw unexpected("column \"\(column)\" is not \(expected)") }
        return decoded
    }

    private func required<Value>(_ column: String, _ value: Value?) throws(PostgresError) -> Value {
        guard let value else { throw unexpected("column \"\(column)\" is NULL") }
        return value
    }

    private func unexpected(_ message: String) -> PostgresError {
        PostgresError(.unexpectedResult, .dataException, message, statement: rows.statement)
    }
}

/// Parses an integer, in digits or as big-endian bytes of the integer's width.
private func integer<Number: FixedWidthInteger>(_ bytes: Span<UInt8>, _ format: ValueFormat) -> Number? {
    switch format {
    case .text: return Number(String(copying: bytes))
    case .binary:
        guard bytes.count == Number.bitWidth / 8 else { return nil }
        var number: Number = 0
        for index in bytes.indices { number = number << 8 | Number(truncatingIfNeeded: bytes[index]) }
        return number
    }
}

extension String {
    fileprivate init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
