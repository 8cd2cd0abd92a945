import Postgres
import Synchronization
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct RetryingPoolTests {
    private func pool() throws -> RetryingPool {
        RetryingPool(
            conninfo: ConnectionString(try TemporaryDatabase.conninfo),
            size: 1,
            schema: "public",
            deadline: .seconds(20),
            settings: .standard
        )
    }

    @Test(arguments: [("40001", 5), ("40P01", 5), ("57014", 5), ("23505", 1), ("42P01", 1)])
    func `a transaction is tried five times if its failure can pass, and otherwise once`(state: String, times: Int)
        async throws
    {
        let attempts = Mutex(0)
        let error = await #expect(throws: PostgresError.self) {
            try await pool().transaction { connection in
                attempts.withLock { $0 += 1 }
                try connection.script("DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '\(state)'; END $$")
            }
        }
        #expect(error?.state.rawValue == state)
        #expect(attempts.withLock(\.self) == times)
    }

    @Test func `a transaction whose session was terminated runs again on a new one, and commits once`() async throws {
        let pool = try pool()
        try await pool.transaction { try $0.script("CREATE TABLE numbers (n bigint)") }
        let attempts = Mutex(0)
        try await pool.transaction { connection in
            try connection.script("INSERT INTO numbers VALUES (1)")
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt < 3 { try connection.script("SELECT pg_terminate_backend(pg_backend_pid())") }
        }
        #expect(attempts.withLock(\.self) == 3)
        #expect(try await pool.transaction { try $0.run("SELECT n FROM numbers").count } == 1)
    }

    @Test func `a lock timeout names the session that holds the lock`() async throws {
        let pool = try pool()
        try await pool.transaction { try $0.script("CREATE TABLE numbers (n bigint)") }
        let blocker = try PostgresConnection(
            ConnectionString(try TemporaryDatabase.conninfo, applicationName: "left open")
        )
        try blocker.script("BEGIN; LOCK TABLE numbers IN EXCLUSIVE MODE")
        let process = try blocker.run("SELECT pg_backend_pid() AS pid")[0].int32("pid")
        let timeout = await #expect(throws: LockTimeout.self) {
            try await pool.transaction { connection in
                try connection.script("SET LOCAL lock_timeout = '20ms'; LOCK TABLE numbers IN ROW EXCLUSIVE MODE")
            }
        }
        let holder = try #require(timeout?.holders.first)
        #expect(timeout?.holders.count == 1 && timeout?.limit == nil)
        #expect(holder.processID == Int64(process) && holder.application == "left open")
        #expect(holder.mode == "ExclusiveLock" && holder.relation == "numbers")
        try blocker.script("ROLLBACK")
    }

    @Test(arguments: [
        (LockTimeout.Scope.table("numbers"), 0), (.table("others"), 0), (.schema, 0), (.schemaWithReaders, 1),
    ])
    func `a reader is named only if the change waits for readers too`(scope: LockTimeout.Scope, count: Int) async throws
    {
        let pool = try pool()
        try await pool.transaction { try $0.script("CREATE TABLE numbers (n bigint)") }
        let reader = try PostgresConnection(ConnectionString(try TemporaryDatabase.conninfo))
        try reader.script("BEGIN; LOCK TABLE numbers IN ACCESS SHARE MODE")
        let timeout = await #expect(throws: LockTimeout.self) {
            try await pool.withConnection { _ in throw LockTimeout(purpose: "a test", limit: nil, scope: scope) }
        }
        #expect(timeout?.holders.count == count)
        #expect(timeout?.purpose == "a test")
        try reader.script("ROLLBACK")
    }
}
