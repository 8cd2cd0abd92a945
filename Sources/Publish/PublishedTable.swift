import Ledger
import LedgerSchema
import Postgres

/// The rows of an app that a file has.
enum PublishedRows {
    case all
    /// Those that became visible since an earlier snapshot, PostgreSQL's text of a `pg_snapshot`.
    case changed(since: String)
    /// The keys of those that were visible in an earlier snapshot, or came later, and are gone.
    case gone(since: String)
}

/// A table as a file: its columns in order, without those that are useful only in the database.
struct PublishedTable {
    struct Column {
        let name: String
        /// PostgreSQL's name of the type.
        let type: String
        /// Whether the table itself has the column.
        var isOwn = true
    }

    /// The columns that every file has, with a value in each row.
    private static let appColumns = ["bundle_id", "environment"]

    let name: String
    let columns: [Column]
    /// The primary key, with `app_id`.
    private let key: [Column]
    /// Further apps in the same file.
    ///
    /// Their rows come after the rows of the first app.
    let furtherApps: [AppID]

    /// Omits the payload, which repeats the columns and is too long for a spreadsheet cell, and binary columns.
    private static let leftOut = "a.attname <> 'app_id' AND a.atttypid NOT IN ('jsonb'::regtype, 'bytea'::regtype)"

    /// Reads the columns from the database, so that the header matches the table.
    ///
    /// - Parameters:
    ///   - name: A table that a job file can name.
    ///   - connection: Inside the transaction whose snapshot is published.
    ///   - furtherApps: Apps whose rows a file has as well.
    /// - Throws: ``LedgerError/invariant(_:)`` if there is no such table; ``Postgres/PostgresError``.
    init(_ name: String, _ connection: borrowing PostgresConnection, furtherApps: [AppID] = []) throws {
        self.name = name
        self.furtherApps = furtherApps
        let own = try connection.run(
            """
            SELECT a.attname::text AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
             WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped AND \(Self.leftOut)
             ORDER BY a.attnum
            """,
            [.text(name)]
        ).map { Column(name: try $0.text("name"), type: try $0.text("type")) }
        columns = own + Self.missingAppColumns(in: own)
        guard !own.isEmpty else { throw LedgerError.invariant("there is no table \(name) to publish") }
        key = try connection.run(
            .primaryKey,
            ["table": .text(name)]
        ).map { Column(name: try $0.text("name"), type: try $0.text("type")) }
    }

    private init(name: String, columns: [Column], key: [Column]) {
        self.name = name
        self.columns = columns
        self.key = key
        furtherApps = []
    }

    private static func missingAppColumns(in columns: [Column]) -> [Column] {
        appColumns.filter { name in !columns.contains { $0.name == name } }
            .map { Column(name: $0, type: "text", isOwn: false) }
    }

    /// The table with only the columns of its key, for ``PublishedRows/gone(since:)``.
    var keys: PublishedTable {
        PublishedTable(name: name, columns: ownKey + Self.missingAppColumns(in: ownKey), key: key)
    }

    private var ownKey: [Column] { key.filter { $0.name != "app_id" } }

    /// A query for rows in the order of the primary key.
    ///
    /// - Parameter expression: A column as it is selected, from the column and its name in quotation marks.
    /// - Returns: A `SELECT` without parameters.
    /// - Throws: ``Postgres/PostgresError`` for a name that cannot be quoted.
    func query(
        _ rows: PublishedRows,
        of app: AppID,
        selecting expression: (Column, String) -> String = { $1 }
    ) throws -> String {
        let table = try quotedIdentifier(name)
        let cells = try columns.map { column in
            let name = try quotedIdentifier(column.name)
            guard Self.appColumns.contains(column.name) else { return expression(column, name) }
            let ofApp = "(SELECT a.\(name) FROM apps a WHERE a.app_id = \(app.rawValue))"
            return "\(column.isOwn ? "coalesce(\(name), \(ofApp))" : ofApp) AS \(name)"
        }.joined(separator: ", ")
        let names = try ownKey.map { try quotedIdentifier($0.name) }
        let order = names.isEmpty ? "" : " ORDER BY \(names.joined(separator: ", "))"
        switch rows {
        case .all:
            return "SELECT \(cells) FROM \(table) WHERE app_id = \(app.rawValue)\(order)"
        case .changed(let mark):
            return """
                SELECT \(cells) FROM (
                    SELECT t.* FROM (\(try changedKeys(since: mark, of: app))) c
                      CROSS JOIN LATERAL (\(Self.row(of: app, in: table, key: names))) t) found\(order)
                """
        case .gone(let mark):
            return """
                SELECT \(cells) FROM (\(try changedKeys(since: mark, of: app))) c
                 WHERE NOT EXISTS (\(Self.row(of: app, in: table, key: names)))\(order)
                """
        }
    }

    /// A query for the row with the key of the row `c`.
    ///
    /// OFFSET 0 makes PostgreSQL look up each key through the index. Without it, a session of the ledger, which uses no hash join,
    /// can compare every row of the table with every changed key.
    private static func row(of app: AppID, in table: String, key: [String]) -> String {
        let same = key.map { "r.\($0) = c.\($0)" }.joined(separator: " AND ")
        return "SELECT * FROM \(table) r WHERE r.app_id = \(app.rawValue) AND \(same) OFFSET 0"
    }

    /// A query for the keys in `changed_rows` that the current snapshot sees and an earlier one does not see, each once.
    private func changedKeys(since mark: String, of app: AppID) throws -> String {
        guard
            mark.utf8.allSatisfy({
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",")
            })
        else { throw LedgerError.invariant("\(mark) is not a snapshot") }
        let cells = try ownKey.enumerated().map { index, column in
            "key[\(index + 1)]::\(column.type) AS \(try quotedIdentifier(column.name))"
        }
        return """
            SELECT DISTINCT \(cells.joined(separator: ", ")) FROM changed_rows
             WHERE app_id = \(app.rawValue) AND table_name = '\(name)'
               AND NOT pg_visible_in_snapshot(changed_in, '\(mark)'::pg_snapshot)
            """
    }
}
