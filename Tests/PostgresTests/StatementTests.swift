import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct StatementTests {
    @Test func `D02 a text with NUL is refused before it is sent, by either way`() async throws {
        let cells: [Cell] = [.text("a\0b"), .textArray(["a", "\0"])]
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE texts (value text, list text[])")
            for cell in cells {
                let isText = if case .text = cell { true } else { false }
                let error = #expect(throws: PostgresError.self) { try connection.run("SELECT $1", [cell]) }
                #expect(error?.reason == .nulCharacter)
                let copyError = #expect(throws: PostgresError.self) {
                    try connection.copyIn("texts", columns: [isText ? "value" : "list"], rows: [[cell]])
                }
                #expect(copyError?.reason == .nulCharacter)
            }
            #expect(try connection.run("SELECT count(*) AS n FROM texts")[0].int64("n") == 0)
        }
    }

    @Test func `values outside the range of their type are refused`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            for cell in [Cell.timestamp(.max), .timestamp(.min), .uuid([1, 2, 3])] {
                let error = #expect(throws: PostgresError.self) { try connection.run("SELECT $1", [cell]) }
                #expect(error?.reason == .unsendableValue)
            }
        }
    }

    @Test func `a unique violation is caught by its state and names its constraint but no value`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE keys (key text CONSTRAINT one_of_each PRIMARY KEY)")
            try connection.run("INSERT INTO keys VALUES ($1)", [.text("customer-4711")])
            do {
                try connection.run("INSERT INTO keys VALUES ($1)", [.text("customer-4711")])
                Issue.record("the second of the same key was taken")
            } catch let error as PostgresError where error.state == .uniqueViolation {
                #expect(error.constraint == "one_of_each")
                #expect(error.statement == "INSERT INTO keys VALUES ($1)")
                #expect(!String(reflecting: error).contains("4711"))
                #expect(!error.isRetryable && !error.isConnectionLoss)
            }
        }
    }

    @Test func `rows that differ in what is NULL share a statement in either order`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE numbers (a bigint, b text)")
            let rows: [Row] = [
                [.null, .null], [.bigint(1), .null], [.null, .text("x")], [.bigint(2), .text("y")], [.null, .null],
            ]
            for row in rows { try connection.run("INSERT INTO numbers VALUES ($1, $2)", row) }
            let found = try connection.run("SELECT count(*) AS n, sum(a) AS a, string_agg(b, '') AS b FROM numbers")[0]
            #expect(try found.int64("n") == 5)
            #expect(try found.int64("a") == 3)
            #expect(try found.text("b") == "xy")
            let prepared = try connection.run(
                "SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'"
            )
            #expect(try prepared[0].int64("n") == 1)
        }
    }

    @Test func `a session keeps at most two hundred prepared statements`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            for number in 0..<450 {
                let rows = try connection.run("SELECT $1 + \(number) AS n", [.integer(1)])
                #expect(try rows[0].int32("n") == Int32(number + 1))
            }
            let prepared = try connection.run("SELECT count(*) AS n FROM pg_prepared_statements")[0].int64("n")
            #expect(prepared <= 200)
        }
    }

    @Test func `a statement that does not parse is refused and forgotten`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            for _ in 0..<2 {
                let error = #expect(throws: PostgresError.self) { try connection.run("SELEC 1") }
                #expect(error?.state == .syntaxError)
            }
            #expect(try connection.run("SELECT 1 AS n")[0].int32("n") == 1)
        }
    }

    @Test func `a reader says what is wrong with a column, not what is in it`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            let row = try connection.run("SELECT $1 AS word, NULL AS nothing", [.text("secret")])[0]
            let errors = [
                #expect(throws: PostgresError.self) { try row.int64("word") },
                #expect(throws: PostgresError.self) { try row.text("nothing") },
                #expect(throws: PostgresError.self) { try row.text("Word") },
            ]
            #expect(errors.allSatisfy { $0?.reason == .unexpectedResult })
            #expect(errors.allSatisfy { $0?.description.contains("secret") == false })
            #expect(try row.isNull("nothing") && !row.isNull("word"))
        }
    }

    @Test func `D27 a server's message of ten megabytes is cut, and its format characters have no effect`() async throws
    {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            let error = #expect(throws: PostgresError.self) {
                try connection.script(
                    #"DO $$ BEGIN RAISE EXCEPTION '%', repeat(E'\x1B[31m%s%n\r\n', 1000000) USING DETAIL = repeat('d', 10000000); END $$"#
                )
            }
            let message = try #require(error?.message)
            #expect(
                message.hasPrefix(#"\u{1B}[31m%s%n \u{1B}[31m"#) || message.hasPrefix(#"\u{001B}[31m%s%n \u{001B}"#),
                "\(message.prefix(60))"
            )
            #expect(message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect("\(String(reflecting: error))".utf8.count < 40_000)
            #expect(try connection.run("SELECT 1 AS n")[0].int32("n") == 1)
        }
    }

    @Test func `D27 a server's message is cut and cannot control a terminal`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            let error = #expect(throws: PostgresError.self) {
                try connection.script("DO $$ BEGIN RAISE EXCEPTION '%', E'\\x1b[2J' || repeat('%n', 1000000); END $$")
            }
            let message = try #require(error?.message)
            #expect(message.hasPrefix("\\u{1B}[2J%n%n") || message.hasPrefix("\\u{001B}[2J"))
            #expect(message.count <= 2_010)
        }
    }

    @Test(arguments: ["a b", "A", "", "1a", "a\"b", "a;b", "é", "a.b", String(repeating: "a", count: 64)])
    func `a name that would need quoting is refused`(name: String) throws {
        let error = #expect(throws: PostgresError.self) { try quotedIdentifier(name) }
        #expect(error?.state == .invalidName)
    }

    @Test func `a plain name is quoted`() throws {
        #expect(try quotedIdentifier("user") == "\"user\"")
    }

    @Test func `affected rows are counted`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE numbers AS SELECT generate_series(1, 10) AS n")
            #expect(try connection.run("UPDATE numbers SET n = n + 1 WHERE n > $1", [.integer(4)]).affected == 6)
            #expect(try connection.run("SELECT n FROM numbers").count == 10)
        }
    }
}
