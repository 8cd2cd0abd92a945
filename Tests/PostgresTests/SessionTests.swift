import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct SessionTests {
    private static func processID(_ pool: PostgresPool) async throws -> Int32 {
        try await pool.withConnection { try $0.run("SELECT pg_backend_pid() AS pid")[0].int32("pid") }
    }

    /// Returns once a statement that contains `words` runs in this database.
    private static func waitUntilRunning(_ words: String, seenBy pool: PostgresPool) async throws {
        while true {
            let running = try await pool.withConnection { connection in
                try connection.run(
                    """
                    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
                      AND pid <> pg_backend_pid() AND query LIKE $1
                    """,
                    [.text("%\(words)%")]
                ).count
            }
            if running > 0 { return }
            await Task.yield()
        }
    }

    @Test func `a cancelled task stops its statement, and the session stays usable`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        let watcher = try TemporaryDatabase.pool(size: 1)
        let before = try await Self.processID(pool)
        // Longer than the suite's limit.
        let sleeper = Task { try await pool.withConnection { try $0.run("SELECT pg_sleep(3600)").count } }
        try await Self.waitUntilRunning("pg_sleep(3600)", seenBy: watcher)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(try await Self.processID(pool) == before)
    }

    @Test func `a task that is cancelled between two statements sends no further statement and rolls back`()
        async throws
    {
        let pool = try TemporaryDatabase.pool(size: 1)
        try await pool.withConnection { try $0.script("CREATE TABLE numbers (n bigint)") }
        let writer = Task {
            try await pool.withConnection { connection in
                try connection.transaction { connection in
                    try connection.run("INSERT INTO numbers VALUES (1)")
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    try connection.run("INSERT INTO numbers VALUES (2)")
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await writer.value }
        #expect(try await pool.withConnection { try $0.run("SELECT n FROM numbers").count } == 0)
    }

    @Test func `a session whose idle backend was terminated reconnects without an error`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        let killer = try TemporaryDatabase.pool(size: 1)
        let victim = try await Self.processID(pool)
        try await killer.withConnection { connection in
            let died = try connection.run("SELECT pg_terminate_backend($1, 10000) AS died", [.integer(victim)])
            #expect(try died[0].bool("died"))
        }
        #expect(try await Self.processID(pool) != victim)
    }

    @Test func `a session whose backend dies during a statement reports it once and reconnects`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        let killer = try TemporaryDatabase.pool(size: 1)
        let victim = try await Self.processID(pool)
        async let sleeping: Int = pool.withConnection { try $0.run("SELECT pg_sleep(60)").count }
        try await Self.waitUntilRunning("pg_sleep(60)", seenBy: killer)
        _ = try await killer.withConnection {
            try $0.run("SELECT pg_terminate_backend($1, 10000)", [.integer(victim)]).count
        }
        do {
            _ = try await sleeping
            Issue.record("the statement outlived its backend")
        } catch let error as PostgresError {
            #expect(error.state == .adminShutdown)
            #expect(error.isConnectionLoss)
            #expect(!error.isOutcomeUnknown)
        }
        #expect(try await Self.processID(pool) != victim)
    }

    @Test func `every new connection has the settings, the one after a break too`() async throws {
        let conninfo = ConnectionString(try TemporaryDatabase.conninfo)
        let settings = SessionSettings.standard.adding([.init("search_path", "pg_catalog")])
        let pool = PostgresPool(conninfo: conninfo, size: 1, settings: settings)
        let killer = try TemporaryDatabase.pool(size: 1)
        for _ in 0..<2 {
            let path = try await pool.withConnection { try $0.run("SHOW search_path")[0].text("search_path") }
            #expect(path == "pg_catalog")
            let victim = try await Self.processID(pool)
            _ = try await killer.withConnection {
                try $0.run("SELECT pg_terminate_backend($1, 10000)", [.integer(victim)]).count
            }
        }
    }

    @Test func `a transaction left open by hand is not inherited by the next user`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        try await pool.withConnection { try $0.script("CREATE TABLE numbers (n bigint)") }
        try await pool.withConnection { try $0.script("BEGIN; INSERT INTO numbers VALUES (1)") }
        #expect(try await pool.withConnection { try $0.run("SELECT n FROM numbers").count } == 0)
    }

    @Test func `more tasks than sessions take turns`() async throws {
        let pool = try TemporaryDatabase.pool(size: 3)
        try await pool.withConnection { try $0.script("CREATE TABLE numbers (n bigint)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    try await pool.withConnection { connection in
                        _ = try connection.run("INSERT INTO numbers VALUES ($1)", [.bigint(Int64(number))])
                    }
                }
            }
            try await group.waitForAll()
        }
        let (count, backends) = try await pool.withConnection { connection in
            let backends = try connection.run(
                "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()"
            )
            return (try connection.run("SELECT n FROM numbers").count, try backends[0].int64("n"))
        }
        #expect(count == 60)
        #expect(backends <= 3)
    }

    @Test func `a task cancelled while it waits for a session leaves the line`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        let watcher = try TemporaryDatabase.pool(size: 1)
        let holder = Task { try await pool.withConnection { try $0.run("SELECT pg_sleep(60)").count } }
        try await Self.waitUntilRunning("pg_sleep(60)", seenBy: watcher)
        let waiting = (0..<10).map { _ in Task { try await Self.processID(pool) } }
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        holder.cancel()
        await #expect(throws: CancellationError.self) { try await holder.value }
        _ = try await Self.processID(pool)
    }

    @Test func `callers get sessions in the order of their requests`() async throws {
        let pool = try TemporaryDatabase.pool(size: 1)
        let watcher = try TemporaryDatabase.pool(size: 1)
        try await watcher.withConnection { try $0.script("CREATE TABLE arrivals (place serial, number bigint)") }
        let holder = Task { try await pool.withConnection { try $0.run("SELECT pg_sleep(60)").count } }
        try await Self.waitUntilRunning("pg_sleep(60)", seenBy: watcher)
        // An immediate task runs until it waits, so each is in the line before the next one asks.
        let waiting = (0..<10).map { number in
            Task.immediate {
                try await pool.withConnection { connection in
                    _ = try connection.run("INSERT INTO arrivals (number) VALUES ($1)", [.bigint(number)])
                }
            }
        }
        holder.cancel()
        for task in waiting { try await task.value }
        let order = try await pool.withConnection { connection in
            try connection.run("SELECT number FROM arrivals ORDER BY place").map { try $0.int64("number") }
        }
        #expect(order == Array(0..<10))
    }

    @Test func `blocked sessions do not block the threads that run tasks`() async throws {
        let pool = try TemporaryDatabase.pool(size: 8)
        let watcher = try TemporaryDatabase.pool(size: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { _ = try await pool.withConnection { try $0.run("SELECT pg_sleep(60)").count } }
            }
            try await Self.waitUntilRunning("pg_sleep(60)", seenBy: watcher)
            let sum = await Task { (1...100).reduce(0, +) }.value
            #expect(sum == 5_050)
            group.cancelAll()
            while let result = await group.nextResult() {
                #expect(throws: CancellationError.self) { try result.get() }
            }
        }
    }
}
