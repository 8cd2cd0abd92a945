import CLibPQ

/// What one statement answered.
///
/// Not `Sendable`: read what is needed inside the closure that lent the connection.
@safe
package final class PostgresRows {
    private let result: OpaquePointer?
    let statement: String
    /// Rows in the answer.
    package let count: Int
    /// Of the columns, each once; `nil` where an earlier column has the same.
    private lazy var names = columnNames
    /// Where the column stands that follows the one asked for last.
    private var next = 0

    init(owning result: OpaquePointer?, statement: String) {
        unsafe self.result = result
        self.statement = statement
        count = unsafe Int(PQntuples(result))
    }

    deinit { unsafe PQclear(result) }

    /// Rows the statement inserted, updated, deleted, copied or selected.
    package var affected: Int {
        guard let text = unsafe PQcmdTuples(result) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    /// The first word or words of what was done, such as `COMMIT`.
    var commandTag: String {
        guard let tag = unsafe PQcmdStatus(result) else { return "" }
        return unsafe String(cString: tag)
    }

    var isCopyIn: Bool { unsafe PQresultStatus(result) == PGRES_COPY_IN }
    var isCopyOut: Bool { unsafe PQresultStatus(result) == PGRES_COPY_OUT }

    /// The place of a column by its name, or `nil`; of two with one name, the first.
    ///
    /// Rows are read one like the other, so the search begins behind the column that was asked for before.
    func column(_ name: String) -> Int? {
        let width = names.count
        for step in 0..<width {
            let place = next + step < width ? next + step : next + step - width
            guard names[place] == name else { continue }
            next = place + 1 < width ? place + 1 : 0
            return place
        }
        return nil
    }

    /// How the values of a column are written.
    func format(_ column: Int) -> ValueFormat {
        unsafe PQfformat(result, Int32(column)) == ValueFormat.binary.rawValue ? .binary : .text
    }

    /// The type of a column as PostgreSQL numbers it.
    func typeNumber(_ column: Int) -> UInt32 { unsafe PQftype(result, Int32(column)) }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(result, Int32(row), Int32(column)) != 0
    }

    /// Lends the bytes of a value as the server wrote it; `nil` is NULL.
    ///
    /// Row and column must be in range.
    func withValue<Value>(_ row: Int, _ column: Int, _ body: (Span<UInt8>) -> Value) -> Value? {
        guard !isNull(row, column), let value = unsafe PQgetvalue(result, Int32(row), Int32(column)) else { return nil }
        let length = unsafe Int(PQgetlength(result, Int32(row), Int32(column)))
        return unsafe UnsafeRawPointer(value).withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
            unsafe body(Span(_unsafeStart: bytes, count: length))
        }
    }

    /// Columns in each row.
    package var columnCount: Int { unsafe Int(PQnfields(result)) }

    /// `PQfnumber` would fold the case of an unquoted name, so the names are compared by us.
    private var columnNames: [String?] {
        var names: [String?] = []
        for place in 0..<columnCount {
            let name = unsafe PQfname(result, Int32(place)).map { unsafe String(cString: $0) }
            names.append(names.contains(name) ? nil : name)
        }
        return names
    }

    /// The error this answer is, or `nil` when the statement succeeded.
    func failure(on session: OpaquePointer) -> PostgresError? {
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_EMPTY_QUERY: return nil
        default: break
        }
        let isLost = unsafe PQstatus(session) != CONNECTION_OK
        let state = field(.sqlState).map(SQLState.init(rawValue:))
        let message =
            unsafe field(.primaryMessage) ?? PQerrorMessage(session).map { unsafe String(cString: $0) }
            ?? "no answer, and no reason from libpq"
        return PostgresError(
            isLost || state == nil ? .connection : .server,
            state ?? .connectionFailure,
            message,
            statement: statement,
            constraint: field(.constraint)
        )
    }

    /// Fields of an error report.
    ///
    /// libpq names them by character macros, which Swift does not import.
    private enum Field: UInt8 {
        case sqlState = 0x43  // PG_DIAG_SQLSTATE, 'C'
        case primaryMessage = 0x4D  // PG_DIAG_MESSAGE_PRIMARY, 'M'
        case constraint = 0x6E  // PG_DIAG_CONSTRAINT_NAME, 'n'
    }

    private func field(_ field: Field) -> String? {
        guard let text = unsafe PQresultErrorField(result, Int32(field.rawValue)) else { return nil }
        return unsafe String(cString: text)
    }
}

extension PostgresRows: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(row: Int) -> PostgresRow {
        precondition(indices.contains(row), "row \(row) of \(count)")
        return PostgresRow(rows: self, index: row)
    }
}
