import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct RoundTripTests {
    static let columns: [Column] = [
        Column("text", .text), Column("integer", .integer), Column("bigint", .bigint), Column("boolean", .boolean),
        Column("timestamptz", .timestamptz), Column("jsonb", .jsonb), Column("uuid", .uuid),
        Column("texts", .textArray), Column("bytea", .bytea),
    ]

    static let rows: [Row] = [
        [
            .text("héllo 🧾"), .integer(.min), .bigint(.min), .boolean(true), .timestamp(1_700_000_000_123),
            .jsonb(Array(#"{"a": [1, "\u00e9"]}"#.utf8)), .uuid(Array(0..<16)),
            .textArray(["", "a,b", "{\"}", "NULL", "\\", " x "]), .bytea([0, 255, 92, 120]),
        ],
        [
            .text(""), .integer(.max), .bigint(.max), .boolean(false), .timestamp(-1), .jsonb(Array("null".utf8)),
            .uuid(Array(repeating: 255, count: 16)), .textArray([]), .bytea([]),
        ],
        [.text("a"), .integer(0), .bigint(0), .null, .timestamp(0), .null, .null, .textArray(["é"]), .null],
        Row(repeating: .null, count: 9),
        [.null, .null, .null, .null, .timestamp(253_402_300_800_000), .null, .null, .null, .null],
        [.null, .null, .null, .null, .timestamp(-62_167_219_200_000 + 366 * 86_400_000), .null, .null, .null, .null],
    ]

    /// What every type of cell must come back as.
    static func readBack(_ row: PostgresRow) throws -> Row {
        [
            try row.textOrNil("text").map(Cell.text) ?? .null,
            try row.int32OrNil("integer").map(Cell.integer) ?? .null,
            try row.int64OrNil("bigint").map(Cell.bigint) ?? .null,
            try row.boolOrNil("boolean").map(Cell.boolean) ?? .null,
            try row.timestampOrNil("timestamptz").map(Cell.timestamp) ?? .null,
            try row.utf8OrNil("jsonb").map(Cell.jsonb) ?? .null,
            try row.bytesOrNil("uuid_bytes").map(Cell.uuid) ?? .null,
            try row.textArrayOrNil("texts").map(Cell.textArray) ?? .null,
            try row.bytesOrNil("bytea").map(Cell.bytea) ?? .null,
        ]
    }

    static let select = """
        SELECT text, "integer", "bigint", "boolean", "timestamptz", jsonb, decode(replace(uuid::text, '-', ''), 'hex') AS
        uuid_bytes, texts, bytea FROM cells ORDER BY place
        """

    static func createTable(_ connection: borrowing PostgresConnection) throws {
        let list = columns.map { "\"\($0.name)\" \($0.type.rawValue)" }.joined(separator: ", ")
        try connection.script("CREATE TABLE cells (place serial, \(list))")
    }

    /// jsonb prints `é` where `\u00e9` was sent; everything else is read as it was written.
    static let expected: [Row] = rows.map { row in
        row.map { $0 == .jsonb(Array(#"{"a": [1, "\u00e9"]}"#.utf8)) ? .jsonb(Array(#"{"a": [1, "é"]}"#.utf8)) : $0 }
    }

    @Test func `values that come back in binary are those that come back as text`() async throws {
        let (asText, inBinary) = try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            try Self.createTable(connection)
            let columns = Self.columns.map(\.name)
            _ = try connection.copyIn("cells", columns: columns, rows: Self.rows)
            // An array and a document are read as text alone.
            let select = """
                SELECT text, "integer", "bigint", "boolean", "timestamptz", jsonb::text AS jsonb,
                       decode(replace(uuid::text, '-', ''), 'hex') AS uuid_bytes, NULL::text[] AS texts, bytea
                  FROM cells ORDER BY place
                """
            return (
                try connection.run(select).map(Self.readBack),
                try connection.run(select, answer: .binary).map(Self.readBack)
            )
        }
        #expect(asText.count == Self.rows.count && asText == inBinary)
    }

    @Test func `a value of another width or kind is no number, moment or array in binary either`() async throws {
        try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            let row = try connection.run(
                "SELECT 1::bigint AS b, 1::integer AS i, 'infinity'::timestamptz AS t, ARRAY['a'] AS a",
                answer: .binary
            )[0]
            #expect(throws: PostgresError.self) { try row.int32("b") }
            #expect(throws: PostgresError.self) { try row.int64("i") }
            #expect(throws: PostgresError.self) { try row.bool("i") }
            #expect(throws: PostgresError.self) { try row.timestamp("t") }
            #expect(throws: PostgresError.self) { try row.textArray("a") }
        }
    }

    @Test func `every type of cell survives as a parameter`() async throws {
        let found = try await TemporaryDatabase.pool().withConnection { connection in
            try Self.createTable(connection)
            let names = Self.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
            for row in Self.rows {
                try connection.run("INSERT INTO cells (\(names)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", row)
            }
            return try connection.run(Self.select).map(Self.readBack)
        }
        #expect(found == Self.expected)
    }

    @Test func `every type of cell survives a binary COPY`() async throws {
        let found = try await TemporaryDatabase.pool().withConnection { connection in
            try Self.createTable(connection)
            let sent = try connection.copyIn("cells", columns: Self.columns.map(\.name), rows: Self.rows)
            #expect(sent == Self.rows.count)
            return try connection.run(Self.select).map(Self.readBack)
        }
        #expect(found == Self.expected)
    }

    @Test func `every type of cell survives in rows that are one parameter, and so does no row`() async throws {
        let found = try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            try Self.createTable(connection)
            // Made once a session, however often it is used.
            for _ in 1...2 { try connection.makeRowType("sent_cells", of: Self.columns) }
            let names = Self.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
            let sql = """
                INSERT INTO cells (\(names)) SELECT \(names) FROM unnest($2::pg_temp.sent_cells[]) s WHERE $1 OFFSET 0
                """
            let none = try connection.run(sql, [.boolean(true)], rows: RowArray(of: "sent_cells", []))
            #expect(none.affected == 0)
            let sent = try connection.run(sql, [.boolean(true)], rows: RowArray(of: "sent_cells", Self.rows))
            #expect(sent.affected == Self.rows.count)
            return try connection.run(Self.select).map(Self.readBack)
        }
        #expect(found == Self.expected)
    }

    @Test func `a new session knows nothing of an old one's row types, and makes its own`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        let column = [Column("value", .text)]
        for value in ["first", "second"] {
            let found = try await pool.withConnection { connection in
                try connection.makeRowType("sent_texts", of: column)
                return try connection.run(
                    "SELECT value FROM unnest($1::pg_temp.sent_texts[])",
                    rows: RowArray(of: "sent_texts", [[.text(value)]])
                ).map { try $0.text("value") }
            }
            #expect(found == [value])
            await #expect(throws: PostgresError.self) {
                try await pool.withConnection { try $0.script("SELECT pg_terminate_backend(pg_backend_pid())") }
            }
        }
    }

    @Test func `D01 a thousand hostile strings come back byte for byte by either way`() async throws {
        let strings = hostileStrings(count: 1_000)
        let (copied, selected) = try await TemporaryDatabase.pool().withConnection { connection in
            try connection.script("CREATE TABLE texts (place serial, value text)")
            try connection.copyIn("texts", columns: ["value"], rows: strings.lazy.map { [.text($0)] })
            let copied = try connection.run("SELECT value FROM texts ORDER BY place").map { try $0.utf8("value") }
            let selected = try strings.map { try connection.run("SELECT $1 AS value", [.text($0)])[0].utf8("value") }
            return (copied, selected)
        }
        #expect(copied == strings.map { Array($0.utf8) })
        #expect(selected == strings.map { Array($0.utf8) })
    }

    @Test func `many chunks of a COPY arrive whole`() async throws {
        let text = String(repeating: "x", count: 700)
        let found = try await TemporaryDatabase.pool().withConnection { connection in
            try connection.script("CREATE TABLE numbers (n bigint, filler text)")
            let rows = (0..<5_000).lazy.map { [Cell.bigint(Int64($0)), .text(text)] }
            let sent = try connection.copyIn("numbers", columns: ["n", "filler"], rows: rows)
            let sum = try connection.run("SELECT sum(n) AS n, sum(length(filler)) AS length FROM numbers")[0]
            return (sent, try sum.int64("n"), try sum.int64("length"))
        }
        #expect(found == (5_000, 12_497_500, 3_500_000))
    }

    @Test func `COPY out passes the bytes of every row`() async throws {
        let strings = hostileStrings(count: 300)
        let found = try await TemporaryDatabase.pool().withConnection { connection in
            try connection.script("CREATE TABLE texts (place serial, value text, missing text)")
            try connection.copyIn("texts", columns: ["value"], rows: strings.lazy.map { [.text($0)] })
            var found: [[[UInt8]?]] = []
            var row = CopyTextRow()
            try connection.copyOut("SELECT value, missing FROM texts ORDER BY place") { line in
                var cells: [[UInt8]?] = []
                row.forEachCell(of: line) { _, cell in
                    if let cell { cells.append(cell.indices.map { cell[$0] }) } else { cells.append(nil) }
                }
                found.append(cells)
            }
            return found
        }
        #expect(found == strings.map { [Array($0.utf8), nil] })
    }
}
