import AppStoreModel
import Ledger
import LedgerSchema
import Postgres
import RateLimit
import Streams
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct BudgetTests {
    private static let hour = Duration.seconds(3_600)

    private func budget(
        _ world: TestLedger,
        perHour: Int,
        window: Duration = hour,
        ledger: Ledger? = nil,
        app: AppID? = nil
    ) -> PostgresRateLedger {
        let seconds = Double(window.components.seconds)
        // A thousandth more, so that rounding down meets the number.
        let share = PostgresRateLedger.Share(
            requestsPerSecond: (Double(perHour) + 0.001) / seconds,
            window: RateWindow(length: window)
        )
        return PostgresRateLedger(
            pool: (ledger ?? world.ledger).control,
            app: app ?? world.app,
            shares: Dictionary(uniqueKeysWithValues: AllStreams.names.map { ($0, share) })
        )
    }

    /// Lets the pace allow any number at once, as after a long pause; the budget is not touched.
    private func rest(_ world: TestLedger) async throws {
        try await world.run("UPDATE rate_scopes SET next_at = '-infinity'")
    }

    /// Asks again and again, resting in between, until the ledger refuses for `reason`.
    private func drain(_ world: TestLedger, _ budget: PostgresRateLedger, until reason: RateGrant.Refusal = .budget)
        async throws -> Int
    {
        var taken = 0
        while true {
            try await rest(world)
            let grant = try await budget.take(.transactionHistory, atMost: 1_000)
            if grant.refusal == reason { return taken }
            taken += grant.granted
        }
    }

    /// Makes everything in the scope as much older as if that time had gone by.
    private func age(_ world: TestLedger, _ interval: String) async throws {
        try await world.run(
            """
            UPDATE rate_buckets SET bucket = bucket - interval '\(interval)';
            UPDATE rate_scopes SET last_now = last_now - interval '\(interval)', next_at = next_at - interval '\(interval)'
            """
        )
    }

    /// Drains the budget, and again after each of two intervals.
    ///
    /// - Returns: What was granted each time.
    private func drainThrice(
        _ world: TestLedger,
        _ budget: PostgresRateLedger,
        _ first: String,
        _ second: String
    ) async throws -> [Int] {
        var granted = [try await drain(world, budget)]
        for interval in [first, second] {
            try await age(world, interval)
            granted.append(try await drain(world, budget))
        }
        return granted
    }

    /// Repeats `body` with an empty scope until it takes less than `limit`.
    ///
    /// Grants age while a test runs. On a busy machine an attempt can take so long that its result proves nothing.
    private func within<Result>(_ limit: Duration, _ world: TestLedger, _ body: () async throws -> Result) async throws
        -> Result
    {
        while true {
            try await world.run("DELETE FROM rate_buckets; DELETE FROM rate_scopes")
            let began = ContinuousClock.now
            let result = try await body()
            if ContinuousClock.now - began < limit { return result }
        }
    }

    @Test func `eight takers at once never get more than the budget`() async throws {
        let world = try await TestLedger()
        let ledgers = try (0..<8).map { _ in try world.anotherProcess() }
        let granted = try await withThrowingTaskGroup(of: Int.self) { group in
            for ledger in ledgers {
                let budget = budget(world, perHour: 50, ledger: ledger)
                group.addTask {
                    var mine = 0
                    for _ in 0..<40 {
                        try await ledger.transaction {
                            try $0.script("UPDATE rate_scopes SET next_at = '-infinity'")
                        }
                        mine += try await budget.take(.transactionHistory, atMost: 3).granted
                    }
                    return mine
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(granted == 50)
        #expect(try await world.value("SELECT sum(granted) FROM rate_buckets") == "50")
    }

    @Test func `the pace is even, and a rest saves up a fifth of a second's worth at most`() async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 180_000)
        let first = try await budget.take(.transactionHistory, atMost: 1_000)
        #expect(first.granted == 11 && first.refusal == nil && first.wait == .zero)
        try await world.run("UPDATE rate_scopes SET next_at = now() + interval '20 seconds'")
        let second = try await budget.take(.transactionHistory, atMost: 1_000)
        #expect(
            second.granted == 0 && second.refusal == .pace && second.wait > .seconds(10) && second.wait <= .seconds(20)
        )
        // A clock that stands still would make this exact; a machine that is slow only finds more saved up.
        try await world.run("UPDATE rate_scopes SET next_at = clock_timestamp() - interval '60 milliseconds'")
        let third = try await budget.take(.transactionHistory, atMost: 1_000)
        #expect((4...11).contains(third.granted))
        let ahead = try await world.value(
            "SELECT extract(epoch FROM next_at - last_now) BETWEEN 0 AND 0.02 FROM rate_scopes"
        )
        #expect(ahead == "true")
    }

    @Test func `a slow endpoint grants one request a unit`() async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 10)
        #expect(try await budget.take(.refundHistory, atMost: 5).granted == 1)
        let next = try await budget.take(.refundHistory, atMost: 5)
        #expect(next.granted == 0 && next.refusal == .pace)
        #expect(next.wait > .seconds(50) && next.wait <= .seconds(60))
        let ahead = try await world.value("SELECT next_at - last_now > interval '350 s' FROM rate_scopes")
        #expect(ahead == "true")
    }

    @Test func `a closed endpoint grants nothing to anybody, and never opens earlier than first said`() async throws {
        let world = try await TestLedger()
        let mine = budget(world, perHour: 3_600)
        let theirs = budget(world, perHour: 3_600, ledger: try world.anotherProcess())
        try await mine.close(.transactionHistory, for: .seconds(600))
        try await theirs.close(.transactionHistory, for: .seconds(60))
        let closed = try await theirs.take(.transactionHistory, atMost: 1)
        #expect(closed.granted == 0 && closed.refusal == .closed)
        #expect(closed.wait > .seconds(540) && closed.wait <= .seconds(601))
        #expect(try await theirs.take(.refundHistory, atMost: 1).granted == 1)
        try await world.run("UPDATE rate_scopes SET closed_until = now()")
        #expect(try await mine.take(.transactionHistory, atMost: 1).granted == 1)
    }

    @Test func `endpoints and apps have separate budgets`() async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 5)
        #expect(try await drain(world, budget) == 5)
        #expect(try await budget.take(.refundHistory, atMost: 1).granted == 1)
        let app = try await world.ledger.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        let sandbox = self.budget(world, perHour: 5, app: app)
        #expect(try await sandbox.take(.transactionHistory, atMost: 1).granted == 1)
    }

    @Test
    func `CK4 while its clock is behind the latest reading, the ledger grants nothing, and its time does not advance`()
        async throws
    {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 180_000)
        #expect(try await budget.take(.transactionHistory, atMost: 1).granted == 1)
        try await world.run("UPDATE rate_scopes SET last_now = now() + interval '30 minutes', next_at = '-infinity'")
        let before = try await world.value("SELECT last_now FROM rate_scopes")
        let grant = try await budget.take(.transactionHistory, atMost: 1)
        // No worker requests permits in a loop.
        #expect(grant.granted == 0 && grant.refusal == .clock && grant.wait == .seconds(60))
        #expect(try await world.value("SELECT last_now FROM rate_scopes") == before)
        try await world.run("UPDATE rate_scopes SET last_now = now() + interval '2 seconds'")
        let soon = try await budget.take(.transactionHistory, atMost: 1)
        #expect(soon.refusal == .clock && soon.wait <= .seconds(2))
        try await world.run("UPDATE rate_scopes SET last_now = now()")
        #expect(try await budget.take(.transactionHistory, atMost: 1).granted == 1)
    }

    /// What the ledger grants in a second after a 429 `seconds` ago, if it grants 100 otherwise.
    private func pace(_ world: TestLedger, _ budget: PostgresRateLedger, after seconds: Int) async throws -> Double {
        try await world.run(
            """
            UPDATE rate_scopes SET closed_until = '-infinity', next_at = '-infinity',
                   share_at = greatest(clock_timestamp(), last_now) - interval '\(seconds) seconds'
            """
        )
        let granted = try await budget.take(.transactionHistory, atMost: 1).granted
        try #require(granted == 1)
        let unit = try await world.value(
            "SELECT extract(epoch FROM next_at - (last_now - interval '200 ms')) FROM rate_scopes WHERE endpoint = 'transactionHistory'"
        )
        return 1 / (unit.flatMap(Double.init) ?? 0)
    }

    @Test func `every 429 halves the pace of all processes, down to a twentieth, and quiet time gives it back (R10)`()
        async throws
    {
        let world = try await TestLedger()
        let mine = budget(world, perHour: 360_000)
        let theirs = budget(world, perHour: 360_000, ledger: try world.anotherProcess())
        #expect(try await mine.take(.transactionHistory, atMost: 1).granted == 1)
        for share in [0.5, 0.25, 0.125, 0.0625, 0.05, 0.05] {
            // Thirty-two 429 answers of one closing count once, regardless of the worker that received them.
            for _ in 1...16 {
                try await mine.close(.transactionHistory, for: .seconds(5))
                try await theirs.close(.transactionHistory, for: .seconds(5))
            }
            #expect(abs(try await pace(world, theirs, after: 0) - 100 * share) < 0.1)
        }
        #expect(abs(try await pace(world, mine, after: 599) - 5) < 0.1)
        #expect(abs(try await pace(world, mine, after: 601) - 10) < 0.1)
        #expect(abs(try await pace(world, mine, after: 18 * 600 + 1) - 95) < 0.1)
        #expect(abs(try await pace(world, mine, after: 19 * 600 + 1) - 100) < 0.1)
        #expect(abs(try await pace(world, mine, after: 1_000_000) - 100) < 0.1)
        // Regained ground is halved with the rest, and other endpoints go on as they were.
        _ = try await pace(world, mine, after: 5 * 600 + 1)
        try await mine.close(.transactionHistory, for: .seconds(5))
        #expect(abs(try await pace(world, mine, after: 0) - 15) < 0.1)
        #expect(try await mine.take(.refundHistory, atMost: 1_000).granted > 15)
    }

    @Test func `CK4 an endpoint closed while time does not advance stays closed for as long as Apple said`()
        async throws
    {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 3_600)
        _ = try await budget.take(.transactionHistory, atMost: 1)
        try await world.run("UPDATE rate_scopes SET last_now = now() + interval '30 minutes'")
        try await budget.close(.transactionHistory, for: .seconds(600))
        let closed = try await budget.take(.transactionHistory, atMost: 1)
        #expect(closed.refusal == .closed && closed.wait > .seconds(590) && closed.wait <= .seconds(600))
    }

    @Test func `a clock that was ahead for a long time and is corrected leaves neither pace nor closing in the future`()
        async throws
    {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 20)
        #expect(try await drain(world, budget) == 20)
        try await world.run(
            """
            UPDATE rate_buckets SET bucket = bucket + interval '3 hours';
            UPDATE rate_scopes SET last_now = last_now + interval '3 hours', next_at = next_at + interval '3 hours',
                   closed_until = last_now + interval '3 hours 10 minutes'
            """
        )
        let closed = try await budget.take(.transactionHistory, atMost: 1)
        #expect(closed.refusal == .closed && closed.wait > .seconds(590) && closed.wait <= .seconds(600))
        try await world.run("UPDATE rate_scopes SET closed_until = now()")
        let spent = try await budget.take(.transactionHistory, atMost: 1)
        #expect(spent.refusal == .budget && spent.wait > .seconds(3_600) && spent.wait <= .seconds(3_642))
    }

    /// How long ago the newest surviving row was written, and what then counts as spent of 3,600 an hour.
    @Test(arguments: [("0 seconds", 61...66), ("30 seconds", 91...96), ("1 day", 3_641...3_642)])
    func `after a failover, what may have been granted since the newest surviving row counts as spent (R9)`(
        age: String,
        lost: ClosedRange<Int>
    ) async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 3_600)
        #expect(try await budget.take(.transactionHistory, atMost: 1).granted == 1)
        try await self.age(world, age)
        try await world.run("UPDATE rate_scopes SET server = 'the one that failed'; DELETE FROM rate_buckets")
        let grant = try await budget.take(.transactionHistory, atMost: 1)
        let spent = try await world.value("SELECT sum(granted) FROM rate_buckets").flatMap(Int.init)
        #expect(lost.contains(try #require(spent) - grant.granted))
        #expect((grant.refusal == .budget) == (age == "1 day"))
        // The same server again: nothing more is charged.
        try await self.age(world, "3700 seconds")
        #expect(try await budget.take(.transactionHistory, atMost: 1).granted == 1)
        #expect(try await world.value("SELECT sum(granted) FROM rate_buckets") == "1")
    }

    @Test func `a new server whose clock is far behind the old one's starts empty (R9)`() async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 3_600)
        #expect(try await budget.take(.transactionHistory, atMost: 1).granted == 1)
        try await world.run(
            "UPDATE rate_scopes SET last_now = now() + interval '61 seconds', server = 'the one that failed'"
        )
        #expect(try await budget.take(.transactionHistory, atMost: 1).refusal == .clock)
        try await world.run("UPDATE rate_scopes SET last_now = now()")
        #expect(try await budget.take(.transactionHistory, atMost: 1).refusal == .budget)
    }

    @Test func `the ledger knows its server by system identifier, timeline and database (R9)`() async throws {
        let world = try await TestLedger()
        let found = try await world.value("ledger_server()")
        let timeline = "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
        let database = "(SELECT oid FROM pg_database WHERE datname = current_database())"
        let expected = try await world.value(
            "(SELECT system_identifier FROM pg_control_system()) || '/' || \(timeline) || '/' || \(database)"
        )
        #expect(found == expected && found?.contains("/00000001/") == true)
    }

    /// The errors of Aurora PostgreSQL's functions about WAL.
    @Test(arguments: ["55000", "0A000"])
    func `a server without functions about WAL grants requests, and is known without its timeline (R9)`(state: String)
        async throws
    {
        let world = try await TestLedger()
        try await world.run(
            """
            CREATE SCHEMA odd;
            CREATE FUNCTION odd.pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS $$
            BEGIN
                RAISE 'not supported here' USING ERRCODE = '\(state)';
            END $$;
            ALTER FUNCTION ledger_server() SET search_path = odd, pg_catalog
            """
        )
        let budget = budget(world, perHour: 3_600)
        let first = try await budget.take(.transactionHistory, atMost: 1)
        let server = try await world.value("SELECT server FROM rate_scopes")
        let database = "(SELECT oid FROM pg_database WHERE datname = current_database())"
        let expected = try await world.value(
            "(SELECT system_identifier FROM pg_control_system()) || '/' || \(database)"
        )
        #expect(first.granted == 1 && server == expected && expected != nil)
        // At the next request it is the same server, so nothing else counts as granted.
        try await rest(world)
        let second = try await budget.take(.transactionHistory, atMost: 1)
        let spent = try await world.value("SELECT sum(granted) FROM rate_buckets")
        #expect(second.granted == 1 && spent == "2")
    }

    /// Window, seconds after its end at which a grant still counts, and at which it does not.
    @Test(arguments: [(Duration.seconds(3_600), 3_634, 3_643), (.seconds(360), 360, 365)])
    func `a grant counts until its bucket's end is older than window, grant life and flight time`(
        _ window: Duration,
        _ counts: Int,
        _ isOver: Int
    ) async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 20, window: window)
        let granted = try await within(.seconds(isOver - counts - 1), world) {
            try await drainThrice(world, budget, "\(counts) seconds", "\(isOver - counts) seconds")
        }
        #expect(granted == [20, 0, 20])
        #expect(try await world.value("SELECT sum(granted) FROM rate_buckets") == "20")
    }

    @Test func `when the budget is spent, the wait is until the oldest grant stops counting`() async throws {
        let world = try await TestLedger()
        let budget = budget(world, perHour: 20)
        #expect(try await drain(world, budget) == 20)
        try await age(world, "3000 seconds")
        let grant = try await budget.take(.transactionHistory, atMost: 1)
        #expect(grant.refusal == .budget && grant.wait > .seconds(600) && grant.wait <= .seconds(642))
    }

    @Test func `small windows scale the margin with them`() async throws {
        let share = PostgresRateLedger.Share(requestsPerSecond: 25, window: RateWindow(length: .seconds(10)))
        #expect(share.budget == 250)
        let world = try await TestLedger()
        let budget = budget(world, perHour: 30, window: .seconds(10))
        #expect(share.window.grantLife == .milliseconds(250) && share.window.flightTime == .milliseconds(250))
        let granted = try await within(.seconds(4), world) {
            try await drainThrice(world, budget, "5 seconds", "5.6 seconds")
        }
        #expect(granted == [30, 0, 30])
    }

    @Test func `a job with a smaller budget sees what the others spent`() async throws {
        let world = try await TestLedger()
        let large = budget(world, perHour: 100)
        let small = budget(world, perHour: 30)
        #expect(try await drain(world, small) == 30)
        #expect(try await drain(world, large) == 70)
        #expect(try await drain(world, small) == 0)
        #expect(try await drain(world, large) == 0)
    }

    @Test func `a rehearsal with a short window leaves the hour's grants to those who count them`() async throws {
        let world = try await TestLedger()
        let hourly = budget(world, perHour: 20)
        let rehearsal = budget(world, perHour: 5, window: .seconds(10))
        let granted = try await within(.seconds(8), world) {
            let first = try await drain(world, hourly)
            try await age(world, "60 seconds")
            return [first, try await drain(world, rehearsal), try await drain(world, hourly)]
        }
        #expect(granted == [20, 5, 0])
        #expect(try await world.value("SELECT sum(granted) FROM rate_buckets") == "25")
    }

    @Test func `D30 a grant is durable before it is used, even if the role sets synchronous_commit off`() async throws {
        let world = try await TestLedger()
        let role = try await world.value("SELECT current_user")
        let database = try await world.value("SELECT current_database()")
        try await world.run(
            "ALTER ROLE \"\(role ?? "")\" IN DATABASE \"\(database ?? "")\" SET synchronous_commit = off"
        )
        let other = try world.anotherProcess()
        let setting = try await other.transaction {
            try $0.run("SELECT current_setting('synchronous_commit') AS value")[0].text("value")
        }
        #expect(setting == "on")
    }

    @Test func `a grant whose answer was lost stays spent`() async throws {
        let world = try await TestLedger(sessions: 1)
        try await world.run(
            """
            CREATE SEQUENCE breaks;
            CREATE FUNCTION break_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('breaks') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$;
            CREATE TRIGGER b BEFORE INSERT ON rate_buckets FOR EACH ROW EXECUTE FUNCTION break_session()
            """
        )
        let budget = budget(world, perHour: 20)
        #expect(try await budget.take(.transactionHistory, atMost: 1).granted == 1)
        let spent = try await world.value("SELECT sum(granted) FROM rate_buckets").flatMap(Int.init)
        #expect(spent ?? 0 >= 1)
    }
}
