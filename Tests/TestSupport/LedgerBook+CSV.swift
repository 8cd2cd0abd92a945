import FoundationEssentials
import Postgres

extension LedgerBook {
    /// Hexadecimal.
    package func sha256(of bytes: [UInt8]) async throws -> String {
        try await with { connection in
            try connection.run("SELECT encode(sha256($1), 'hex') AS hash", [.bytea(bytes)])[0].text("hash")
        }
    }

    /// Loads a published file into a copy of its table and returns each row that only one of the two has.
    package func differences(of table: String, from records: [[String?]]) async throws -> [String] {
        let header = (records.first ?? []).compactMap(\.self)
        let rows = String(decoding: try JSONEncoder().encode(Array(records.dropFirst())), as: UTF8.self)
        return try await with { connection in
            try connection.script(
                "DROP TABLE IF EXISTS pg_temp.csv; CREATE TEMPORARY TABLE csv AS SELECT * FROM \(table) WHERE false"
            )
            // The columns of the app are in each file, and not in each table.
            let columns = try connection.run(
                """
                SELECT c.column_name AS name, format_type(a.atttypid, NULL) AS type, c.place - 1 AS place
                  FROM unnest($1::text[]) WITH ORDINALITY AS c (column_name, place)
                  JOIN pg_attribute a ON a.attrelid = 'csv'::regclass AND a.attname = c.column_name ORDER BY place
                """,
                [.textArray(header)]
            ).map { (name: try $0.text("name"), value: "(row ->> \(try $0.int64("place")))::\(try $0.text("type"))") }
            let names = columns.map(\.name).joined(separator: ", ")
            let values = columns.map(\.value).joined(separator: ", ")
            _ = try connection.run(
                "INSERT INTO csv (\(names)) SELECT \(values) FROM jsonb_array_elements($1::text::jsonb) AS row",
                [.text(rows)]
            )
            return try connection.run(
                """
                SELECT 'only in the file: ' || f::text AS row FROM (SELECT \(names) FROM csv EXCEPT ALL SELECT \(names) FROM \(table)) f
                UNION ALL
                SELECT 'only in the table: ' || t::text FROM (SELECT \(names) FROM \(table) EXCEPT ALL SELECT \(names) FROM csv) t
                """
            ).map { try $0.text("row") }
        }
    }
}
