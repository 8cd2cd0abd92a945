import Basics

/// Many rows as one parameter: an array of a type that ``PostgresConnection/makeRowType(_:of:)`` created.
package struct RowArray: Sendable {
    /// The type's name.
    let type: String
    let rows: [Row]

    /// - Parameter rows: Each has one cell per column of the type, of the column's type or NULL.
    package init(of type: String, _ rows: [Row]) {
        self.type = type
        self.rows = rows
    }
}

/// A composite type of one session: its object identifier and the types of its columns.
struct RowType {
    let number: UInt32
    let columns: [PostgresType]
}

extension PostgresConnection {
    /// Creates `pg_temp.NAME`, a type of this session whose arrays ``run(_:_:rows:answer:)`` sends, unless it exists.
    ///
    /// Unlike a temporary table, a type has no rows to remove at each commit. Call it outside a transaction: after a
    /// rollback the session would assume a type that no longer exists.
    ///
    /// - Parameters:
    ///   - name: Of the form `[a-z_][a-z0-9_]*`.
    ///   - columns: At least one.
    /// - Throws: ``PostgresError``.
    package borrowing func makeRowType(_ name: String, of columns: [Column]) throws(PostgresError) {
        guard !statements.hasRowType(name) else { return }
        let type = "pg_temp.\(try quotedIdentifier(name))"
        try script("CREATE TYPE \(type) AS (\(try columnList(columns)))")
        let created = try run("SELECT $1::regtype::oid::bigint AS number", [.text(type)])
        statements.rememberRowType(name, number: try created[0].int64("number"), columns)
    }
}

/// The columns as in `CREATE TYPE`.
private func columnList(_ columns: [Column]) throws(PostgresError) -> String {
    var list: [String] = []
    for column in columns { list.append("\(try quotedIdentifier(column.name)) \(column.type.rawValue)") }
    return list.joined(separator: ", ")
}

extension CellEncoder {
    /// Writes an array of one dimension, lower bound 1, no NULL among the rows.
    ///
    /// Source: `array_recv` and `record_recv` of PostgreSQL.
    mutating func append(_ rows: [Row], of type: RowType) throws(PostgresError) {
        let start = beginLength()
        append(Int32(rows.isEmpty ? 0 : 1))
        append(Int32(0))
        append(type.number)
        if !rows.isEmpty {
            append(Int32(truncatingIfNeeded: rows.count))
            append(Int32(1))
        }
        for row in rows {
            let width = type.columns.count
            precondition(row.count == width, "a row of \(row.count) cells for \(width) columns")
            let start = beginLength()
            append(Int32(truncatingIfNeeded: row.count))
            for (cell, column) in zip(row, type.columns) {
                append(column.rawValue)
                try append(cell)
            }
            try endLength(from: start)
            crashPoint(.rowCopied)
        }
        try endLength(from: start)
    }
}
