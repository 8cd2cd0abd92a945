import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Runs against a database with faults.
@Suite(.migratedDatabase)
struct DatabaseFaultTests {
    /// SQL that refuses the inserts into `transactions` whose number fulfils the condition, as a busy server can.
    private static func refusing(_ state: String, _ places: String = "> 0") -> String {
        """
        CREATE SEQUENCE refusals;
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('refusals') \(places) THEN RAISE EXCEPTION 'as scripted' USING ERRCODE = '\(state)'; END IF;
            RETURN NULL; END $$;
        CREATE TRIGGER r AFTER INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse()
        """
    }

    @Test(arguments: ["40001", "40P01", "57P01", "25006"])
    func `D07 D16 a transaction the server ends is begun again without another request to Apple`(state: String)
        async throws
    {
        try await Stage.with { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "refundHistory: {for: all}"]
            let path = try await stage.migrated(job)
            let book = try stage.book()
            // All four refusals can hit the same page, which fails at the fifth.
            try await book.with { try $0.script(Self.refusing(state, "IN (3, 6, 9, 12)")) }
            try await stage.run(path)
            #expect(try await book.count("SELECT last_value FROM refusals") > 12)
            let pages = try await book.count("SELECT sum(page_count) FROM crawl_items")
            #expect(try await stage.store.requests().total == pages)
            expectNone(
                try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("transaction ") }
            )
        }
    }

    /// Damage that an operator does to the ledger, and the statement that undoes it.
    struct Damage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: Int32
        let done: String
        let undone: String
    }

    @Test(arguments: [
        Damage(
            testDescription: "D19 a table is missing",
            code: 70,
            done: "ALTER TABLE transactions RENAME TO elsewhere",
            undone: "ALTER TABLE elsewhere RENAME TO transactions"
        ),
        Damage(
            testDescription: "D19 a right is missing",
            code: 77,
            done: Self.refusing("42501"),
            undone: "DROP TRIGGER r ON transactions"
        ),
        Damage(
            testDescription: "D16 the database is a standby's",
            code: 78,
            done:
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
            undone: """
                SET default_transaction_read_only = off;
                DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$
                """
        ),
        Damage(
            testDescription: "D15 the server has no room",
            code: 74,
            done: Self.refusing("53100"),
            undone: "DROP TRIGGER r ON transactions"
        ),
    ])
    func `a failed write ends the run, and after the repair the next run has everything`(damage: Damage)
        async throws
    {
        try await Stage.with(.init(customers: 5)) { stage in
            let path = try await stage.migrated(stage.job)
            let book = try stage.book()
            try await book.with { try $0.script(damage.done) }
            let outcome = try await stage.storeledger("run", path, "--progress", "none")
            #expect(outcome.code == damage.code, "\(outcome.errors)")
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
            try await book.with { try $0.script(damage.undone) }
            #expect(try await book.count("SELECT count(*) FROM transactions") == 0)
            #expect(
                try await book.count(
                    "SELECT count(*) FROM crawl_items WHERE stream = 'transactionHistory' AND page_seq > 0"
                ) == 0
            )
            try await stage.run(path)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test func `D11 a cursor that Apple does not know costs a new crawl of its item and no record`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "refundHistory: {for: all}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let book = try stage.book()
            for cursor in ["garbage", "32503680000000_1", "eyJhIjoxfQ=="] {
                try await book.change("UPDATE crawl_items SET cursor = '\(cursor)'")
                _ = try await stage.store.advance(changes: 5)
                try await stage.run(path)
                let missing = try await book.differences(from: stage.store.world()).filter {
                    $0.hasPrefix("transaction ") || $0.hasPrefix("refund")
                }
                expectNone(missing, cursor)
            }
            let refused = try await stage.store.requests().arrivals.count { $0.status == 400 }
            #expect(refused == 30)
        }
    }

    @Test func `D12 rows that were removed by hand come back with a restart`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            #expect(try await book.change("DELETE FROM transactions WHERE transaction_id::numeric % 2 = 0") > 5)
            let outcome = try await stage.storeledger("run", path, "--restart", "--progress", "none")
            #expect(outcome.code == 0, "\(outcome.errors)")
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    /// Restores an older copy of everything, or of the cursors alone.
    @Test(arguments: [true, false])
    func `D14 a ledger from an old backup takes up what has happened since`(isWhole: Bool) async throws {
        try await Stage.with(.init(customers: 8)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let tables = LedgerBook.dataTables + ["runs", "crawl_items", "coverage_gaps"]
            for table in tables { try await book.change("CREATE TABLE old_\(table) AS TABLE \(table)") }
            _ = try await stage.store.advance(changes: 30)
            try await stage.run(path)
            // Apple signs a record that is requested again with another date.
            let held = "SELECT transaction_id || ' ' || (payload - 'signedDate')::text FROM transactions ORDER BY 1"
            let newest = try await book.column(held)

            try await book.with { connection in
                let restored = isWhole ? tables : ["crawl_items"]
                // In one transaction and without the triggers that keep the tables together.
                let copies = restored.map { table in
                    "DELETE FROM \(table); INSERT INTO \(table) OVERRIDING SYSTEM VALUE SELECT * FROM old_\(table);"
                }
                try connection.script("SET LOCAL session_replication_role = replica; \(copies.joined())")
            }
            if !isWhole { #expect(try await book.column(held) == newest) }
            try await stage.run(path)
            #expect(try await book.column(held) == newest)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test func `D29 no transaction is open during a request to Apple`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let path = try await stage.migrated(job)
            try await stage.store.setFaults(#"{"rules": [{"fault": "delay", "milliseconds": 3000}]}"#)
            let book = try stage.book()
            // A page takes milliseconds to commit, an answer three seconds to come.
            let open = """
                SELECT state || ': ' || left(query, 100) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'storeledger run \(job.name)'
                   AND state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - interval '2 seconds'
                """
            let sessions = """
                SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'storeledger run \(job.name)'
                """
            let (looks, mostSessions) = try await stage.withStoreledger(["run", path, "--progress", "none"]) {
                process in
                var (looks, mostSessions) = (0, 0)
                try await poll {
                    expectNone(try await book.column(open))
                    mostSessions = max(mostSessions, try await book.count(sessions))
                    looks += 1
                    return process.hasEnded
                }
                let code = await process.wait()
                #expect(code == 0, "\(process.errors)")
                return (looks, mostSessions)
            }
            #expect(looks > 10)
            #expect(mostSessions > 1)
        }
    }

    @Test(
        .startsEarly,
        .enabled(if: SmallDisk.isPossible, "only root can mount a small disk, and not in every container")
    )
    func `D15 a database whose disk is full loads nothing partly, and continues when there is room`() async throws {
        try await Stage.with(.init(customers: 40, transactionsPerCustomer: 40)) { stage in
            try await SmallDisk.with(kilobytes: 131_072) { disk in
                try await OwnPostgres.running(in: disk.path + "/cluster") { server in
                    let environment = ["DATABASE_URL": server.conninfo, "STORELEDGER_DATABASE_DEADLINE": "3"]
                    let path = try stage.write(stage.job)
                    let migrated = try await stage.storeledger("migrate", path, environment: environment)
                    try #require(migrated.code == 0, "\(migrated.errors)")
                    try disk.fill(leaving: 600)
                    let full = try await stage.storeledger("run", path, "--progress", "none", environment: environment)
                    #expect([69, 74, 75].contains(full.code), "\(full.errors)")
                    #expect(full.errorLines.count == 1, "\(full.errors)")
                    try disk.makeRoom()
                    try await server.start()
                    let again = try await stage.storeledger("run", path, "--progress", "none", environment: environment)
                    #expect(again.code == 0, "\(again.errors)")
                    let book = LedgerBook(pool: server.pool(), schema: "appstore")
                    expectNone(try await book.differences(from: stage.store.world()))
                    print("D15: exit \(full.code) on the full disk, \(full.errors.prefix(100))")
                }
            }
        }
    }
}
