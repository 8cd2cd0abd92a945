import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct TransactionTests {
    struct Mistake: Error {}

    @Test func `a body that throws leaves nothing and the session usable`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE numbers (n bigint UNIQUE)")
            #expect(throws: Mistake.self) {
                try connection.transaction { connection in
                    try connection.run("INSERT INTO numbers VALUES (1)")
                    throw Mistake()
                }
            }
            #expect(throws: PostgresError.self) {
                try connection.transaction { connection in
                    try connection.run("INSERT INTO numbers VALUES (1)")
                    try connection.run("INSERT INTO numbers VALUES (1)")
                }
            }
            #expect(try connection.run("SELECT n FROM numbers").isEmpty)
            try connection.transaction { _ = try $0.run("INSERT INTO numbers VALUES (1)") }
            #expect(try connection.run("SELECT n FROM numbers").count == 1)
        }
    }

    @Test func `an error the body swallowed still fails the transaction`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            let error = #expect(throws: PostgresError.self) {
                try connection.transaction { connection in
                    do { try connection.run("SELECT 1 / 0") } catch SQLState.divisionByZero {}
                }
            }
            #expect(error?.state == .inFailedTransaction)
            #expect(error?.isOutcomeUnknown == false)
        }
    }

    @Test func `a COMMIT the server refuses is known not to have happened`() async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE numbers (n bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
            let error = #expect(throws: PostgresError.self) {
                try connection.transaction { connection in
                    try connection.run("INSERT INTO numbers VALUES (1), (1)")
                }
            }
            #expect(error?.state == .uniqueViolation)
            #expect(error?.isOutcomeUnknown == false)
            #expect(try connection.run("SELECT n FROM numbers").isEmpty)
        }
    }

    @Test
    func `a COMMIT whose answer is lost is an unknown outcome`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        try await pool.withConnection { connection throws in
            try connection.script(
                """
                CREATE TABLE numbers (n bigint);
                CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER die AFTER INSERT ON numbers DEFERRABLE INITIALLY DEFERRED
                  FOR EACH ROW EXECUTE FUNCTION die()
                """
            )
        }
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { connection throws in
                try connection.transaction { _ = try $0.run("INSERT INTO numbers VALUES (1)") }
            }
        }
        #expect(error?.isOutcomeUnknown == true)
        #expect(error?.isConnectionLoss == true)
        let count = try await pool.withConnection { try $0.run("SELECT n FROM numbers").count }
        #expect(count == 0)
    }

    @Test func `a read-only snapshot sees what was there when it began and writes nothing`() async throws {
        let other = try TemporaryDatabase.pool(size: 1)
        let pool = try TemporaryDatabase.pool(size: 1)
        try await other.withConnection { try $0.script("CREATE TABLE numbers (n bigint)") }
        let url = try TemporaryDatabase.conninfo
        let counts = try await pool.withConnection { connection throws in
            try connection.transaction(.readOnlySnapshot) { connection in
                let before = try connection.run("SELECT n FROM numbers").count
                let writer = try PostgresConnection(conninfo: url)
                try writer.run("INSERT INTO numbers VALUES (1)")
                let after = try connection.run("SELECT n FROM numbers").count
                return [before, after]
            }
        }
        #expect(counts == [0, 0])
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { connection throws in
                try connection.transaction(.readOnlySnapshot) { _ = try $0.run("INSERT INTO numbers VALUES (1)") }
            }
        }
        #expect(error?.state == .readOnlyTransaction)
    }

    @Test func `serialization failures say that they may be tried again`() async throws {
        let url = try TemporaryDatabase.conninfo
        try await TemporaryDatabase.pool().withConnection { connection throws in
            try connection.script("CREATE TABLE numbers AS SELECT 1 AS n")
            let error = #expect(throws: PostgresError.self) {
                try connection.transaction(.repeatableRead) { connection in
                    try connection.run("SELECT n FROM numbers")
                    let other = try PostgresConnection(conninfo: url)
                    try other.run("UPDATE numbers SET n = 2")
                    try connection.run("UPDATE numbers SET n = 3")
                }
            }
            #expect(error?.state == .serializationFailure)
            #expect(error?.isRetryable == true)
        }
    }
}
