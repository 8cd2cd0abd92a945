import AppStoreModel
import FoundationEssentials
import Ledger
import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase, .serialized)
struct MigratorTests {
    @Test func `a fresh database gets every migration, and a second time nothing new`() async throws {
        let ledger = try TestLedger.bare()
        let migrator = Migrator(ledger: ledger, directory: try TestLedger.sql)
        let first = try await migrator.migrate()
        #expect(first.applied.starts(with: ["0001_app_store_records.sql", "0002_crawl_state.sql"]))
        let second = try await migrator.migrate()
        #expect(second.applied.isEmpty)
        try await migrator.check()
    }

    @Test func `a missing schema is named before anything is asked of it`() async throws {
        let migrator = Migrator(ledger: try TestLedger.bare(), directory: try TestLedger.sql)
        await #expect(throws: LedgerError.schemaMissing(schema: "appstore")) { try await migrator.check() }
    }

    @Test func `D18 an older schema is told what it lacks`() async throws {
        let world = try await TestLedger()
        try await world.run("DELETE FROM schema_migrations WHERE name LIKE '0002%'")
        let migrator = Migrator(ledger: world.ledger, directory: try TestLedger.sql)
        await #expect(throws: LedgerError.schemaOlder(missing: ["0002_crawl_state.sql"])) { try await migrator.check() }
    }

    @Test func `D18 a newer schema is refused, by check and by migrate`() async throws {
        let world = try await TestLedger()
        try await world.run("INSERT INTO schema_migrations VALUES ('9999_later.sql', 'x')")
        let migrator = Migrator(ledger: world.ledger, directory: try TestLedger.sql)
        let newer = LedgerError.schemaNewer(schema: "appstore", unknown: "9999_later.sql")
        await #expect(throws: newer) { try await migrator.check() }
        await #expect(throws: newer) { _ = try await migrator.migrate() }
    }

    @Test func `a migration edited after it was applied is refused`() async throws {
        let ledger = try TestLedger.bare()
        try await withMigrations(["0001_a.sql": "CREATE TABLE a (n integer)"]) { migrations in
            _ = try await Migrator(ledger: ledger, directory: migrations).migrate()
        }
        try await withMigrations(["0001_a.sql": "CREATE TABLE a (n bigint)"]) { migrations in
            let migrator = Migrator(ledger: ledger, directory: migrations)
            let changed = LedgerError.migrationChanged(name: "0001_a.sql")
            await #expect(throws: changed) { _ = try await migrator.migrate() }
            await #expect(throws: changed) { try await migrator.check() }
        }
    }

    @Test func `a migration that fails leaves nothing, not even those before it`() async throws {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)", "0002_b.sql": "CREATE TABLE b (n nonsense)"]
        try await withMigrations(files) { migrations in
            let migrator = Migrator(ledger: ledger, directory: migrations)
            await #expect(throws: PostgresError.self) { _ = try await migrator.migrate() }
            await #expect(throws: LedgerError.schemaMissing(schema: "appstore")) { try await migrator.check() }
        }
    }

    @Test func `the planner learns nothing of payloads, and forgets what it knew where no view has one`() async throws {
        let world = try await TestLedger()
        let spared = """
            (SELECT string_agg(attrelid::regclass::text, ' ' ORDER BY attrelid) FROM pg_attribute
              WHERE attname = 'payload' AND attstattarget = 0)
            """
        #expect(try await world.value(spared) == "transactions refunds renewals notifications signed_payloads latest_signatures")

        // As a ledger of before, with its statistics.
        var (items, holder) = try await world.leased(["1"])
        try await world.commit(Rows.fullPage(), of: &items[0], for: holder)
        let known = "(SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_stats WHERE attname = 'payload')"
        for table in ["transactions", "renewals"] {
            try await world.run("ALTER TABLE \(table) ALTER COLUMN payload SET STATISTICS -1")
            try await world.run("ANALYZE \(table)")
        }
        #expect(try await world.value(known) == "renewals transactions")
        let file = try await world.value("pg_relation_filenode('renewals')")
        try await world.run("CREATE VIEW somebodys AS SELECT payload FROM transactions")
        try await world.run("DELETE FROM schema_migrations WHERE name = '0015_payload_statistics.sql'")
        let report = try await Migrator(ledger: world.ledger, directory: try TestLedger.sql).migrate()
        #expect(report.applied == ["0015_payload_statistics.sql"])
        #expect(try await world.value(known) == "transactions")
        #expect(try await world.value("pg_relation_filenode('renewals')") == file)  // it is not written anew
        #expect(try await world.value(spared) == "refunds renewals notifications signed_payloads latest_signatures")
    }

    @Test func `two migrators at once both succeed, and one of them does the work`() async throws {
        let migrators = try (0..<4).map { _ in Migrator(ledger: try TestLedger.bare(), directory: try TestLedger.sql) }
        let applied = try await withThrowingTaskGroup(of: Int.self) { group in
            for migrator in migrators { group.addTask { try await migrator.migrate().applied.count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(applied.sorted().dropLast() == [0, 0, 0])
        #expect(applied.max() ?? 0 >= 2)
    }

    @Test func `any schema name a job may choose holds a whole ledger of its own`() async throws {
        let other = try TestLedger.bare(schema: "user")
        _ = try await Migrator(ledger: other, directory: try TestLedger.sql).migrate()
        let app = try await other.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        let share = BudgetLedger.Share(requestsPerSecond: 10, window: .hour)
        let budget = BudgetLedger(ledger: other, app: app, shares: [.refundHistory: share])
        let grant = try await budget.take(.refundHistory, atMost: 1)
        #expect(grant.granted == 1)
        let migrator = Migrator(ledger: try TestLedger.bare(), directory: try TestLedger.sql)
        await #expect(throws: LedgerError.schemaMissing(schema: "appstore")) { try await migrator.check() }
    }

    @Test func `views are applied again every time`() async throws {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        for text in [
            "CREATE OR REPLACE VIEW v AS SELECT n FROM a", "CREATE OR REPLACE VIEW v AS SELECT n, 1 AS m FROM a",
        ] {
            try await withMigrations(files, views: ["v.sql": text]) { migrations in
                let report = try await Migrator(ledger: ledger, directory: migrations).migrate()
                #expect(report.views == ["v.sql"])
            }
        }
        let columns = try await ledger.transaction { try $0.run("SELECT * FROM v").columnCount }
        #expect(columns == 2)
    }

    @Test func `a view that changes is made anew with those on it, keeps its readers, and spares the others`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer); INSERT INTO a VALUES (1)"]
        let kept = "CREATE MATERIALIZED VIEW IF NOT EXISTS kept AS SELECT count(*) AS n FROM a"
        let reader = "r" + UUID().uuidString.prefix(8).lowercased()
        // `above` comes first by its name and needs `base`, which comes later.
        let views = { (base: String) in
            [
                "kept.sql": kept, "base.sql": "CREATE OR REPLACE VIEW base AS SELECT \(base) FROM a",
                "above.sql": "CREATE MATERIALIZED VIEW IF NOT EXISTS above AS SELECT * FROM base",
            ]
        }
        try await withMigrations(files, views: views("n, n AS m")) {
            let report = try await Migrator(ledger: ledger, directory: $0).migrate()
            #expect(report.views == ["base.sql", "above.sql", "kept.sql"])
        }
        try await ledger.transaction {
            try $0.script("CREATE ROLE \(reader); GRANT SELECT ON above, base TO \(reader); INSERT INTO a VALUES (2)")
        }
        let answers = { () async throws in
            try await ledger.transaction { connection in
                try connection.run(
                    """
                    SELECT (SELECT n FROM kept) || ' ' || (SELECT string_agg(q::text, '' ORDER BY n) FROM above q)
                           || has_table_privilege('\(reader)', 'above', 'SELECT') || has_table_privilege('\(reader)', 'base', 'SELECT')
                           AS all
                    """
                )[0].text("all")
            }
        }
        // Another comment changes nothing; neither does nothing.
        try await withMigrations(files, views: views("n, n AS m").merging(["kept.sql": "-- Why?\n" + kept]) { $1 }) {
            _ = try await Migrator(ledger: ledger, directory: $0).migrate()
        }
        #expect(try await answers() == "1 (1,1)truetrue")
        try await withMigrations(files, views: views("n")) {
            _ = try await Migrator(ledger: ledger, directory: $0).migrate()
        }
        #expect(try await answers() == "1 (1)(2)truetrue")
        try await ledger.transaction { try $0.script("DROP OWNED BY \(reader); DROP ROLE \(reader)") }
    }

    @Test func `a view no longer wanted goes; one that a user's own view stands on stays, and is named`() async throws {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        let base = ["base.sql": "CREATE OR REPLACE VIEW base AS SELECT n FROM a"]
        try await withMigrations(files, views: base) { _ = try await Migrator(ledger: ledger, directory: $0).migrate() }
        try await ledger.transaction { try $0.script("CREATE SCHEMA mine; CREATE VIEW mine.own AS SELECT * FROM base") }
        try await withMigrations(files) { directory in
            let inUse = LedgerError.viewInUse(view: "base", by: "mine.own")
            await #expect(throws: inUse) { _ = try await Migrator(ledger: ledger, directory: directory).migrate() }
            try await ledger.transaction { try $0.script("SELECT FROM mine.own; DROP VIEW mine.own") }
            _ = try await Migrator(ledger: ledger, directory: directory).migrate()
        }
        let left = try await ledger.transaction {
            try $0.run("SELECT to_regclass('base') IS NOT NULL OR EXISTS (SELECT FROM schema_views) AS kept")[0].bool(
                "kept"
            )
        }
        #expect(!left)
    }

    @Test func `an SQL file that cannot be read is named, with the reason`() async throws {
        try await withMigrations(["0001_a.sql": ""]) { directory in
            let file = directory.migrations + "/0002_b.sql"
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
            let unread = LedgerError.cannotRead(path: file, reason: "Is a directory")
            let ledger = try TestLedger.bare()
            await #expect(throws: unread) { _ = try await Migrator(ledger: ledger, directory: directory).migrate() }
        }
    }

    @Test func `every table, every column and every function has a comment`() async throws {
        let world = try await TestLedger()
        let silent = try await world.rows(
            """
            SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
             WHERE c.relnamespace = 'appstore'::regnamespace AND c.relkind IN ('r', 'v', 'p', 'm')
               AND (a.attnum > 0 AND col_description(c.oid, a.attnum) IS NULL
                    OR a.attnum = -1 AND obj_description(c.oid, 'pg_class') IS NULL)
            UNION ALL
            SELECT proname, '' FROM pg_proc WHERE pronamespace = 'appstore'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
            """
        )
        #expect(silent == [])
    }

    @Test func `app_id leads every primary key of a table that keeps its rows`() async throws {
        let world = try await TestLedger()
        let others = try await world.rows(
            """
            SELECT c.relname FROM pg_class c LEFT JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
             WHERE c.relnamespace = 'appstore'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('schema_migrations', 'schema_views')
               AND c.relpersistence = 'p'
               AND (SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = x.indkey[0]) IS DISTINCT FROM 'app_id'
            """
        )
        #expect(others == [])
    }

    @Test func `an app keeps its number, learns its Apple ID, and refuses another`() async throws {
        let world = try await TestLedger()
        let name = "com.example.other"
        let first = try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: nil)
        let second = try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: 7)
        #expect(first == second)
        await #expect(throws: LedgerError.appMismatch(found: 7, job: 8)) {
            _ = try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: 8)
        }
        #expect(try await world.ledger.knownApp(bundleId: name, environment: "Sandbox") == first)
        #expect(try await world.ledger.knownApp(bundleId: name, environment: "Production") == nil)
    }

    private func withMigrations(
        _ files: [String: String],
        views: [String: String] = [:],
        _ body: (SQLDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            for (folder, files) in [("migrations", files), ("views", views)] {
                let url = URL(filePath: directory).appending(path: "sql").appending(path: folder)
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
                for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
            }
            try await body(SQLDirectory.find(executable: directory + "/storeledger"))
        }
    }
}
