import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct CopyTests {
    static let numbers = "CREATE TABLE numbers (n bigint)"

    @Test func `D03 a COPY of which the server keeps fewer rows leaves none`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script(
                """
                \(Self.numbers);
                CREATE FUNCTION drop_odd() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN IF NEW.n % 2 = 1 THEN RETURN NULL; END IF; RETURN NEW; END $$;
                CREATE TRIGGER drop_odd BEFORE INSERT ON numbers FOR EACH ROW EXECUTE FUNCTION drop_odd()
                """
            )
            let error = #expect(throws: PostgresError.self) {
                try connection.copyIn("numbers", columns: ["n"], rows: (0..<10).map { [.bigint($0)] })
            }
            #expect(error?.reason == .countMismatch(sent: 10, stored: 5))
            #expect(try connection.run("SELECT n FROM numbers").isEmpty)
        }
    }

    @Test func `a row that the server refuses fails the COPY, and the session stays usable`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE numbers (n bigint CHECK (n <> 7))")
            let error = #expect(throws: PostgresError.self) {
                try connection.copyIn("numbers", columns: ["n"], rows: (0..<100_000).lazy.map { [.bigint($0)] })
            }
            #expect(error?.state == .checkViolation)
            #expect(try connection.run("SELECT n FROM numbers").isEmpty)
        }
    }

    @Test func `a cell of another type than its column is refused`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script(Self.numbers)
            let error = #expect(throws: PostgresError.self) {
                try connection.copyIn("numbers", columns: ["n"], rows: [[.integer(1)]])
            }
            #expect(error?.reason == .server)
        }
    }

    @Test func `copying out stops when the reader throws, and the session stays usable`() async throws {
        struct Enough: Error {}
        let pool = try TemporaryDatabase.pool(size: 1)
        let seen = try await pool.withConnection { connection throws in
            var seen = 0
            #expect(throws: Enough.self) {
                try connection.copyOut("SELECT generate_series(1, 100000000)") { _ in
                    seen += 1
                    if seen == 3 { throw Enough() }
                }
            }
            #expect(try connection.run("SELECT 1 AS n")[0].int32("n") == 1)
            return seen
        }
        #expect(seen == 3)
    }

    @Test func `an error in the middle of copying out is thrown`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            let error = #expect(throws: PostgresError.self) {
                try connection.copyOut("SELECT 1 / (5000 - n) FROM generate_series(1, 10000) AS n") { _ in }
            }
            #expect(error?.state == .divisionByZero)
            #expect(try connection.run("SELECT 1 AS n")[0].int32("n") == 1)
        }
    }

    @Test func `no rows are a COPY too`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script(Self.numbers)
            #expect(try connection.copyIn("numbers", columns: ["n"], rows: [Row]()) == 0)
            try connection.copyOut("SELECT n FROM numbers") { _ in Issue.record("there is no row") }
        }
    }
}
