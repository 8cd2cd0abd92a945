import Ledger
import LedgerSchema
import Postgres

/// A table as a file: its columns in order, without those that are useful only in the database.
struct PublishedTable {
    struct Column {
        let name: String
        /// PostgreSQL's name of the type.
        let type: String
    }

    let name: String
    let columns: [Column]
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

    /// A query for the rows of an app in the order of the primary key.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - expression: A column as it is selected, from the column and its name in quotation marks.
    /// - Returns: A `SELECT` without parameters.
    /// - Throws: ``Postgres/PostgresError`` for a name that cannot be quoted.
    func query(rowsOf app: AppID, selecting expression: (Column, String) -> String = { $1 }) throws -> String {
        let cells = try columns.map { expression($0, try quotedIdentifier($0.name)) }.joined(separator: ", ")
        let order = try key.map(quotedIdentifier).joined(separator: ", ")
        return "SELECT \(cells) FROM \(try quotedIdentifier(name)) WHERE app_id = \(app.rawValue) ORDER BY \(order)"
    }
}
