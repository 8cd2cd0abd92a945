import CLibPQ

/// The result of one statement.
///
/// Not `Sendable`: read it inside the closure that got the connection.
@safe
package final class PostgresRows {
    private let result: OpaquePointer?
    let statement: String
    /// The number of rows in the result.
    package let count: Int
    /// The column names; `nil` for a column whose name an earlier one has.
    private lazy var names = columnNames
    /// The index after the column that was read last.
    private var next = 0

    init(owning result: OpaquePointer?, statement: String) {
        unsafe self.result = result
        self.statement = statement
        count = unsafe Int(PQntuples(result))
    }

    deinit { unsafe PQclear(result) }

    /// The number of rows that the statement inserted, updated, deleted, copied or selected.
    package var affected: Int {
        guard let text = unsafe PQcmdTuples(result) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    /// The name of the executed command, such as `COMMIT`.
    var commandTag: String {
        guard let tag = unsafe PQcmdStatus(result) else { return "" }
        return unsafe String(cString: tag)
    }

    var isCopyIn: Bool { unsafe PQresultStatus(result) == PGRES_COPY_IN }
    var isCopyOut: Bool { unsafe PQresultStatus(result) == PGRES_COPY_OUT }

    /// The index of a column by its name, or `nil`; of two columns with this name, the first.
    ///
    /// Every row is read in the same order, so the search starts after the column that was read last.
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

    /// The format of the values of a column.
    func format(_ column: Int) -> ValueFormat {
        unsafe PQfformat(result, Int32(column)) == ValueFormat.binary.rawValue ? .binary : .text
    }

    /// The object identifier of a column's type.
    func typeNumber(_ column: Int) -> UInt32 { unsafe PQftype(result, Int32(column)) }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(result, Int32(row), Int32(column)) != 0
    }

    /// Calls the closure with the bytes of a value as the server sent it; `nil` is NULL.
    ///
    /// Row and column must be in range.
    func withValue<Value>(_ row: Int, _ column: Int, _ body: (Span<UInt8>) -> Value) -> Value? {
        guard !isNull(row, column), let value = unsafe PQgetvalue(result, Int32(row), Int32(column)) else { return nil }
        let length = unsafe Int(PQgetlength(result, Int32(row), Int32(column)))
        return unsafe UnsafeRawPointer(value).withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
            unsafe body(Span(_unsafeStart: bytes, count: length))
        }
    }

    /// The names of the columns as the server sent them; two columns can have the same name.
    package var columnLabels: [String] {
        (0..<columnCount).map { place in
            unsafe PQfname(result, Int32(place)).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// The number of columns.
    package var columnCount: Int { unsafe Int(PQnfields(result)) }

    /// Not with `PQfnumber`, which folds the case of an unquoted name.
    private var columnNames: [String?] {
        var names: [String?] = []
        for place in 0..<columnCount {
            let name = unsafe PQfname(result, Int32(place)).map { unsafe String(cString: $0) }
            names.append(names.contains(name) ? nil : name)
        }
        return names
    }

    /// The error, or `nil` when the statement succeeded.
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
    /// In C they are character macros, which Swift does not import.
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
