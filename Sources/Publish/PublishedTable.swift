import Basics
import CSVFormat
import Ledger
import LedgerSchema
import Postgres

/// A table as a CSV file: its columns in order, without those that are useful only in the database.
struct PublishedTable {
    private struct Column {
        let name: String
        /// PostgreSQL's name of the type.
        let type: String
    }

    let name: String
    private let columns: [Column]
    private let key: [String]

    /// Omits the payload, which repeats the columns and is too long for a spreadsheet cell, and binary columns.
    private static let leftOut = "a.attname <> 'app_id' AND a.atttypid NOT IN ('jsonb'::regtype, 'bytea'::regtype)"

    /// Reads the columns from the database, so that the header matches the table.
    ///
    /// - Parameters:
    ///   - name: A table that a job file can name.
    ///   - connection: Inside the transaction whose snapshot is published.
    /// - Throws: ``LedgerError/invariant(_:)`` if there is no such table; ``Postgres/PostgresError``.
    init(_ name: String, _ connection: borrowing PostgresConnection) throws {
        self.name = name
        columns = try connection.run(
            """
            SELECT a.attname::text AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
             WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped AND \(Self.leftOut)
             ORDER BY a.attnum
            """,
            [.text(name)]
        ).map { Column(name: try $0.text("name"), type: try $0.text("type")) }
        guard !columns.isEmpty else { throw LedgerError.invariant("there is no table \(name) to publish") }
        key = try connection.run(
            """
            SELECT a.attname::text AS name FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey)
             WHERE x.indrelid = to_regclass($1::text) AND x.indisprimary
             ORDER BY array_position(x.indkey::smallint[], a.attnum)
            """,
            [.text(name)]
        ).map { try $0.text("name") }
    }

    /// Writes the header and every row of an app, in the order of the primary key.
    ///
    /// - Returns: The number of rows, without the header.
    func copy(rowsOf app: AppID, from connection: borrowing PostgresConnection, to descriptor: Int32) throws -> Int {
        let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let order = key.map { "\"\($0)\"" }.joined(separator: ", ")
        let sql = "SELECT \(names) FROM \(try quotedIdentifier(name)) WHERE app_id = \(app.rawValue) ORDER BY \(order)"
        let kinds = columns.map { CellKind(type: $0.type) }
        var writer = try CSVWriter(fileDescriptor: descriptor, columns: columns.map(\.name))
        var line = CopyTextRow()
        var moment: [UInt8] = []
        try connection.copyOut(sql) { row in
            line.forEachCell(of: row) { place, cell in
                guard let cell else { return writer.appendNull() }
                switch kinds[place] {
                case .text:
                    writer.append(text: cell)
                case .literal:
                    writer.append(literal: cell)
                case .boolean:
                    writer.append(literal: (cell[0] == UInt8(ascii: "t") ? trueText : falseText).span)
                case .moment:
                    // `-infinity` in rate_scopes means "never".
                    guard cell[0] != UInt8(ascii: "-") else { return writer.appendNull() }
                    writeISOMoment(cell, into: &moment)
                    writer.append(literal: moment.span)
                }
            }
            try writer.endRow()
            crashPoint(.csvRowWritten)
        }
        crashPoint(.csvUnflushed)
        try writer.flush()
        return writer.rowCount
    }
}

/// How a cell is written.
private enum CellKind {
    /// Quoted, and escaped if a spreadsheet would run it as a formula.
    case text
    case literal
    case boolean
    case moment

    init(type: String) {
        switch type {
        case "smallint", "integer", "bigint", "uuid": self = .literal
        case "boolean": self = .boolean
        case "timestamp with time zone": self = .moment
        default: self = .text
        }
    }
}

private let trueText = Array("true".utf8)
private let falseText = Array("false".utf8)

/// `2026-11-21 02:00:00.5+00` becomes `2026-11-21T02:00:00.5Z`; sessions run in UTC.
private func writeISOMoment(_ cell: Span<UInt8>, into text: inout [UInt8]) {
    text.removeAll(keepingCapacity: true)
    unsafe cell.withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
    // Years from 10000 have more digits, and years before 1 have an era.
    guard let space = text.firstIndex(of: UInt8(ascii: " ")), let zone = text.lastIndex(of: UInt8(ascii: "+")) else {
        return
    }
    text[space] = UInt8(ascii: "T")
    text[zone] = UInt8(ascii: "Z")
    text.removeSubrange((zone + 1)...)
}
