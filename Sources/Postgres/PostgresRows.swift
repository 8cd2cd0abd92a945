import CLibPQ
import Glibc

/// What one statement answered.
///
/// Not `Sendable`: read what is needed inside the closure that lent the connection.
@safe
package final class PostgresRows {
    private let result: OpaquePointer?
    let statement: String
    /// Rows in the answer.
    package let count: Int

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

    /// The place of a column by its name, or `nil`.
    func column(_ name: String) -> Int? {
        // `PQfnumber` would fold the case of an unquoted name, so the names are compared here.
        let columns = unsafe Int(PQnfields(result))
        return (0..<columns).first { place in
            guard let found = unsafe PQfname(result, Int32(place)) else { return false }
            return unsafe strcmp(found, name) == 0
        }
    }

    /// How the values of a column are written.
    func format(_ column: Int) -> ValueFormat {
        unsafe PQfformat(result, Int32(column)) == ValueFormat.binary.rawValue ? .binary : .text
    }

    /// The type of a column as PostgreSQL numbers it.
    func typeNumber(_ column: Int) -> UInt32 { unsafe PQftype(result, Int32(column)) }

    /// The bytes of a value as the server wrote it; `nil` is NULL.
    ///
    /// Row and column must be in range.
    func value(_ row: Int, _ column: Int) -> [UInt8]? {
        guard unsafe PQgetisnull(result, Int32(row), Int32(column)) == 0,
            let value = unsafe PQgetvalue(result, Int32(row), Int32(column))
        else { return nil }
        let length = unsafe Int(PQgetlength(result, Int32(row), Int32(column)))
        return unsafe Array(UnsafeRawBufferPointer(start: value, count: length))
    }

    /// Columns in each row.
    package var columnCount: Int { unsafe Int(PQnfields(result)) }

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
