import AppStoreModel
import FoundationEssentials
import Ledger
import LedgerSchema
import Migrations
import Postgres
import RateLimit
import Streams
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct MigratorTests {
    @Test func `a fresh database gets every migration, and a second time nothing new`() async throws {
        let ledger = try TestLedger.bare()
        let migrator = Migrator(ledger: ledger, directory: try TestLedger.sql)
        let first = try await migrator.migrate()
        #expect(first.applied.first == "0001_tables.sql" && first.definitions.contains("functions/refresh.sql"))
        #expect(first.isNew && first.views.made.count > 40)
        let second = try await migrator.migrate()
        #expect(second.changedNothing && second.views.unchanged == first.views.made.count)
        try await migrator.check()
    }

    @Test func `a missing schema is named before anything is asked of it`() async throws {
        let migrator = Migrator(ledger: try TestLedger.bare(), directory: try TestLedger.sql)
        await #expect(throws: LedgerError.schemaMissing(schema: "appstore")) { try await migrator.check() }
    }

    @Test func `D18 the error for an older schema says what it lacks`() async throws {
        let world = try await TestLedger()
        try await withExtraMigrations(["9998_more.sql": "CREATE TABLE more ()"]) { directory in
            let migrator = Migrator(ledger: world.ledger, directory: directory)
            await #expect(throws: LedgerError.schemaOlder(missing: ["9998_more.sql"])) { try await migrator.check() }
        }
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

    @Test func `the planner learns nothing of payloads`() async throws {
        let world = try await TestLedger()
        let learning = try await world.rows(
            """
            SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
             WHERE c.relnamespace = 'appstore'::regnamespace AND attname = 'payload' AND attstattarget <> 0
            """
        )
        #expect(learning == [])
    }

    @Test func `a ledger with the 57 migrations before 0.1.0 continues at the baseline, and keeps its rows`()
        async throws
    {
        let world = try await TestLedger()
        try await world.replaceBaseline()
        try await world.run("DROP TABLE schema_definitions; DROP FUNCTION forget_job")
        let apps = try await world.count("apps")
        let migrator = Migrator(ledger: world.ledger, directory: try TestLedger.sql)
        await #expect(throws: LedgerError.self) { try await migrator.check() }
        let report = try await migrator.migrate()
        #expect(report.applied == [] && !report.isNew && report.definitions.contains("functions/jobs.sql"))
        #expect(try await world.value("to_regprocedure('forget_job(integer, text)')") != nil)
        #expect(try await world.count("apps") == apps)
        #expect(try await world.value("(SELECT min(name) FROM schema_migrations)") == "0001_tables.sql")
        try await migrator.check()
        #expect(try await migrator.migrate().changedNothing)
    }

    @Test func `a ledger from before 0062, or with a migration that was edited, is refused and stays as it is`()
        async throws
    {
        let world = try await TestLedger()
        try await world.replaceBaseline()
        let migrator = Migrator(ledger: world.ledger, directory: try TestLedger.sql)
        let listed = "SELECT name, checksum FROM schema_migrations ORDER BY 1"
        for (damage, expected) in [
            (
                "DELETE FROM schema_migrations WHERE name LIKE '0062%'",
                LedgerError.schemaTooOld(lacking: "0062_salted_rows.sql")
            ),
            (
                "UPDATE schema_migrations SET checksum = 'x' WHERE name LIKE '0040%'",
                .migrationChanged(name: "0040_refresh_by_changes.sql")
            ),
        ] {
            try await world.run(damage)
            let before = try await world.rows(listed)
            await #expect(throws: expected) { try await migrator.check() }
            await #expect(throws: expected) { _ = try await migrator.migrate() }
            #expect(try await world.rows(listed) == before)
        }
    }

    @Test
    func `a ledger of 0.1.0 keeps its approvals: no unsent row looks sent, and each refund request has one answer`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let baseline = try String(contentsOfFile: TestLedger.sql.migrations + "/0001_tables.sql", encoding: .utf8)
        try await withMigrations(["0001_tables.sql": baseline]) { directory in
            _ = try await Migrator(ledger: ledger, directory: directory).migrate()
        }
        try await ledger.transaction { connection in
            try connection.script(
                """
                INSERT INTO apps (bundle_id, environment) VALUES ('com.example.game', 'Production');
                INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send, rows_invalid,
                       rows_ineligible, rows_duplicate, rows_same, approved_at, approved_rows, approval_expires_at, planned_at)
                SELECT 1, ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'job' || n, 'sendConsumptionInformation', repeat('a', 64), n, '{}', 3, 3, 0, 0,
                       0, 0, now(), 3, now() + interval '1 day', now() + n * interval '1 minute' FROM generate_series(1, 3) n;
                INSERT INTO action_rows (app_id, batch_id, position, input, parameters, subject, verdict, state, send_by, may_be_applied, request_id,
                       first_sent_at, claimable_at)
                SELECT 1, batch_id, r.position, '{}', '{}', r.subject, 'valid', r.state, r.send_by, r.may, CASE WHEN r.may THEN batch_id END,
                       CASE WHEN r.sent THEN now() END, now()
                  FROM action_batches JOIN (VALUES
                    (1, 1, '7', 'approved', now() + interval '1 hour', false, true), (1, 2, '8', 'unknown', now() - interval '1 hour', true, true),
                    (1, 3, '9', 'approved', now() - interval '1 hour', false, false), (2, 1, '7', 'unknown', now() + interval '1 hour', true, true),
                    (2, 2, '5', 'planned', now() + interval '1 hour', false, false), (3, 1, '5', 'approved', now() + interval '1 hour', false, false),
                    (3, 2, '6', 'approved', NULL, false, true)
                  ) r (batch, position, subject, state, send_by, may, sent) ON r.batch = occurrence
                """
            )
        }
        let migrator = Migrator(ledger: ledger, directory: try TestLedger.sql)
        _ = try await migrator.migrate()
        let rows = try await ledger.transaction { connection in
            try connection.run(
                """
                SELECT concat_ws(' ', b.occurrence, r.position, r.state, r.first_sent_at IS NOT NULL, r.ended_at IS NOT NULL, r.salted_sha256 IS NOT NULL) AS line
                  FROM action_rows r JOIN action_batches b USING (app_id, batch_id) ORDER BY 1
                """
            ).map { try $0.text("line") }
        }
        #expect(
            rows == [
                "1 1 cancelled f t t", "1 2 unknown t t t", "1 3 cancelled f t t", "2 1 unknown t f t",
                "2 2 cancelled f t t",
                "3 1 approved f f t", "3 2 approved f f t",
            ]
        )
        #expect(try await migrator.migrate().changedNothing)
    }

    @Test func `rates of apps become rates of the ledger, and rates that contradict each other are named`() async throws
    {
        let ledger = try TestLedger.bare()
        let present = try TestLedger.sql
        let earlier = try FileManager.default.contentsOfDirectory(atPath: present.migrations).filter { $0 < "0014" }
        let files = try earlier.map { ($0, try String(contentsOfFile: "\(present.migrations)/\($0)", encoding: .utf8)) }
        let view =
            "CREATE OR REPLACE VIEW mrr_converted_by_month AS SELECT app_id, valid_from, rate FROM exchange_rates;"
        try await withMigrations(
            Dictionary(uniqueKeysWithValues: files),
            views: ["mrr_converted_by_month.sql": view]
        ) { directory in
            _ = try await Migrator(ledger: ledger, directory: directory).migrate()
        }
        let run = { (statement: String) in try await ledger.transaction { try $0.script(statement) } }
        try await run(
            """
            INSERT INTO apps (bundle_id, environment) VALUES ('com.example.game', 'Production'), ('com.example.tool', 'Production');
            INSERT INTO exchange_rates VALUES (1, 'USD', 'EUR', '2026-01-01', 1.1), (2, 'USD', 'EUR', '2026-01-01', 1.2),
                (2, 'USD', 'EUR', '2026-01-02', 1.3);
            GRANT SELECT ON mrr_converted_by_month TO PUBLIC
            """
        )
        let migrator = Migrator(ledger: ledger, directory: present)
        let refused = try #require(await #expect(throws: PostgresError.self) { _ = try await migrator.migrate() })
        #expect("\(refused)".contains("different rates from EUR to USD of 2026-01-01 for several apps"))
        try await run("UPDATE exchange_rates SET rate = 1.1 WHERE rate = 1.2")
        _ = try await migrator.migrate()
        let found = try await ledger.transaction { connection in
            try connection.run(
                """
                SELECT (SELECT string_agg(concat_ws(' ', reporting_currency, currency, day, rate), ', ' ORDER BY day) FROM exchange_rates) AS rates,
                       relacl::text ~ '[{,]=r/' AS is_public FROM pg_class WHERE oid = 'mrr_converted_by_month'::regclass
                """
            ).map { (try $0.text("rates"), try $0.bool("is_public")) }
        }
        #expect(found.map(\.0) == ["USD EUR 2026-01-01 1.1, USD EUR 2026-01-02 1.3"])
        #expect(found.map(\.1) == [true])
        #expect(try await migrator.migrate().changedNothing)
    }

    @Test func `a function whose file has changed is replaced, and until then no command uses the schema`() async throws
    {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        let function = { (answer: Int) in
            "CREATE OR REPLACE FUNCTION answer() RETURNS integer LANGUAGE sql AS 'SELECT \(answer)'"
        }
        for answer in [1, 2] {
            try await withMigrations(files, functions: ["f.sql": function(answer)]) { directory in
                let migrator = Migrator(ledger: ledger, directory: directory)
                if answer == 2 {
                    let differ = LedgerError.functionsDiffer(schema: "appstore", files: ["functions/f.sql"])
                    await #expect(throws: differ) { try await migrator.check() }
                }
                #expect(try await migrator.migrate().definitions == ["functions/f.sql"])
                try await migrator.check()
                #expect(try await migrator.migrate().changedNothing)
            }
            let found = try await ledger.transaction { try $0.run("SELECT answer() AS n")[0].int32("n") }
            #expect(found == Int32(answer))
        }
    }

    @Test func `a file of functions or views that PostgreSQL refuses is named, and the ledger is unchanged`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        try await withMigrations(files) { _ = try await Migrator(ledger: ledger, directory: $0).migrate() }
        let more = files.merging(["0002_b.sql": "CREATE TABLE b (n integer)"]) { $1 }
        let changes = "CREATE OR REPLACE VIEW refresh_a_changes AS SELECT n, 1::bigint AS found FROM a"
        let refused = [
            ("functions/f.sql", "CREATE OR REPLACE FUNCTION f() RETURNS nonsense AS ''"),
            ("views/v.sql", "CREATE OR REPLACE VIEW v AS SELECT absent FROM a"),
            ("views/v.sql", changes),
            ("views/v.sql", "-- One row for each absent.\n" + changes),
        ]
        for (file, text) in refused {
            let parts = file.split(separator: "/").map(String.init)
            let folders = [parts[0]: [parts[1]: text]]
            try await withMigrations(more, functions: folders["functions"] ?? [:], views: folders["views"] ?? [:]) {
                let migrator = Migrator(ledger: ledger, directory: $0)
                let error = await #expect(throws: LedgerError.self) { _ = try await migrator.migrate() }
                guard case .definitionRefused(file: file, _) = error else {
                    Issue.record("\(file): \(String(describing: error))")
                    return
                }
            }
        }
        try await withMigrations(files) { try await Migrator(ledger: ledger, directory: $0).check() }
    }

    @Test func `two migrators at once both succeed, and one of them does the work`() async throws {
        let migrators = try (0..<4).map { _ in Migrator(ledger: try TestLedger.bare(), directory: try TestLedger.sql) }
        let applied = try await withThrowingTaskGroup(of: Int.self) { group in
            for migrator in migrators { group.addTask { try await migrator.migrate().applied.count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(applied.sorted().dropLast() == [0, 0, 0])
        #expect(applied.max() ?? 0 >= 1)
    }

    @Test func `any schema name a job may choose can have a whole separate ledger`() async throws {
        let other = try TestLedger.bare(schema: "user")
        _ = try await Migrator(ledger: other, directory: try TestLedger.sql).migrate()
        let app = try await other.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        let share = PostgresRateLedger.Share(requestsPerSecond: 10, window: .hour)
        let budget = PostgresRateLedger(pool: other.control, app: app, shares: [.refundHistory: share])
        let grant = try await budget.take(.refundHistory, atMost: 1)
        #expect(grant.granted == 1)
        let migrator = Migrator(ledger: try TestLedger.bare(), directory: try TestLedger.sql)
        await #expect(throws: LedgerError.schemaMissing(schema: "appstore")) { try await migrator.check() }
    }

    @Test func `a view is made again when its definition has changed`() async throws {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        for text in [
            "CREATE OR REPLACE VIEW v AS SELECT n FROM a", "CREATE OR REPLACE VIEW v AS SELECT n, 1 AS m FROM a",
        ] {
            try await withMigrations(files, views: ["v.sql": text]) { migrations in
                let report = try await Migrator(ledger: ledger, directory: migrations).migrate()
                #expect(report.views.made == ["v"])
            }
        }
        let columns = try await ledger.transaction { try $0.run("SELECT * FROM v").columnCount }
        #expect(columns == 2)
    }

    @Test func `a changed view is recreated with its dependent views, keeps its grants, and leaves the others`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer); INSERT INTO a VALUES (1)"]
        let kept = "CREATE OR REPLACE VIEW kept AS SELECT count(*) AS n FROM a"
        let reader = "r" + UUID().uuidString.prefix(8).lowercased()
        // `above` comes first by its name and needs `base`, which comes later.
        let views = { (base: String) in
            [
                "kept.sql": kept, "base.sql": "CREATE OR REPLACE VIEW base AS SELECT \(base) FROM a",
                "above.sql": "CREATE OR REPLACE VIEW above AS SELECT * FROM base",
            ]
        }
        try await withMigrations(files, views: views("n, n AS m")) {
            let report = try await Migrator(ledger: ledger, directory: $0).migrate()
            #expect(report.views.made == ["base", "above", "kept"])
        }
        try await ledger.transaction {
            try $0.script("CREATE ROLE \(reader); GRANT SELECT ON above, base TO \(reader)")
        }
        let oid = { () async throws in
            try await ledger.transaction { try $0.run("SELECT 'kept'::regclass::oid::text AS oid")[0].text("oid") }
        }
        let first = try await oid()
        let answers = { () async throws in
            try await ledger.transaction { connection in
                try connection.run(
                    """
                    SELECT (SELECT string_agg(q::text, '' ORDER BY n) FROM above q)
                           || has_table_privilege('\(reader)', 'above', 'SELECT') || has_table_privilege('\(reader)', 'base', 'SELECT')
                           AS all
                    """
                )[0].text("all")
            }
        }
        // Another comment changes nothing; neither does nothing.
        try await withMigrations(files, views: views("n, n AS m").merging(["kept.sql": "-- Why?\n" + kept]) { $1 }) {
            let report = try await Migrator(ledger: ledger, directory: $0).migrate()
            #expect(report.changedNothing && report.views.unchanged == 3)
        }
        #expect(try await answers() == "(1,1)truetrue")
        try await withMigrations(files, views: views("n")) {
            let report = try await Migrator(ledger: ledger, directory: $0).migrate()
            #expect(report.views.made == ["base", "above"] && report.views.unchanged == 1)
        }
        #expect(try await answers() == "(1)truetrue")
        #expect(try await oid() == first)
        try await ledger.transaction { try $0.script("DROP OWNED BY \(reader); DROP ROLE \(reader)") }
    }

    @Test func `without a changed file, migrate writes no comments, and makes a view that is missing`() async throws {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        let view = "CREATE OR REPLACE VIEW v AS SELECT n FROM a;\nCOMMENT ON VIEW v IS 'first';"
        let comment = { () async throws in
            try await ledger.transaction { connection in
                try connection.run("SELECT obj_description('v'::regclass) AS words")[0].textOrNil("words")
            }
        }
        try await withMigrations(files, views: ["v.sql": view]) { directory in
            let migrator = Migrator(ledger: ledger, directory: directory)
            _ = try await migrator.migrate()
            try await ledger.transaction { try $0.script("COMMENT ON VIEW v IS 'by hand'") }
            #expect(try await migrator.migrate().changedNothing)
            #expect(try await comment() == "by hand")
            try await ledger.transaction { try $0.script("DROP VIEW v") }
            #expect(try await migrator.migrate().views.made == ["v"])
            #expect(try await comment() == "first")
        }
        try await withMigrations(files, views: ["v.sql": view.replacing("first", with: "second")]) { directory in
            let report = try await Migrator(ledger: ledger, directory: directory).migrate()
            #expect(report.changedNothing)
        }
        #expect(try await comment() == "second")
    }

    @Test func `a view that is not needed any more is dropped; one that a user's view depends on stays, and is named`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        let base = ["base.sql": "CREATE OR REPLACE VIEW base AS SELECT n FROM a"]
        try await withMigrations(files, views: base) { _ = try await Migrator(ledger: ledger, directory: $0).migrate() }
        try await ledger.transaction { try $0.script("CREATE SCHEMA mine; CREATE VIEW mine.own AS SELECT * FROM base") }
        try await withMigrations(files) { directory in
            let inUse = LedgerError.viewInUse(view: "base", by: "mine.own")
            await #expect(throws: inUse) { _ = try await Migrator(ledger: ledger, directory: directory).migrate() }
            try await ledger.transaction { try $0.script("SELECT FROM mine.own; DROP VIEW mine.own") }
            let report = try await Migrator(ledger: ledger, directory: directory).migrate()
            #expect(report.views.dropped == ["base"] && report.views.made.isEmpty)
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

    @Test
    func `an index is built while others write: one with an open transaction is waited for, others wait for nothing`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let files = ["0001_a.sql": "CREATE TABLE a (n integer)"]
        try await withMigrations(files) { _ = try await Migrator(ledger: ledger, directory: $0).migrate() }
        let world = TestLedger(as: try TestLedger.bare(), app: AppID(rawValue: 1))
        let writer = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try writer.script("SET search_path = appstore; BEGIN; INSERT INTO a VALUES (1)")
        let index = ["0002_b.sql": "-- Why?\nCREATE INDEX CONCURRENTLY IF NOT EXISTS b ON a (n); -- so"]
        try await withMigrations(files.merging(index) { $1 }) { directory in
            async let migration = Migrator(ledger: ledger, directory: directory).migrate()
            try await world.settle("locktype = 'virtualxid' AND NOT granted")
            let another = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try another.script("SET lock_timeout = '1ms'; INSERT INTO appstore.a VALUES (2)")
            try writer.script("INSERT INTO a VALUES (3); COMMIT")
            let report = try await migration
            #expect(report.applied == ["0002_b.sql"] && report.indexesBuilt == ["b"])
        }
        #expect(try await world.rows("SELECT n FROM a ORDER BY n") == ["(1)", "(2)", "(3)"])
    }

    @Test func `a build of an index that was killed is done again by the next migrate, and counts as done only then`()
        async throws
    {
        let ledger = try TestLedger.bare()
        let files = [
            "0001_a.sql": "CREATE TABLE a (n integer)",
            "0002_b.sql": """
            CREATE INDEX CONCURRENTLY IF NOT EXISTS first ON a (n);
            CREATE INDEX CONCURRENTLY IF NOT EXISTS second ON a (n) WHERE n > 0;
            """,
            "0003_c.sql": "CREATE TABLE c (n integer)",
        ]
        let world = TestLedger(as: try TestLedger.bare(), app: AppID(rawValue: 1))
        let valid = "SELECT indexrelid::regclass, indisvalid FROM pg_index WHERE indrelid = 'a'::regclass ORDER BY 1"
        try await withMigrations(["0001_a.sql": "CREATE TABLE a (n integer)"]) {
            _ = try await Migrator(ledger: ledger, directory: $0).migrate()
        }
        try await withMigrations(files) { directory in
            let migrator = Migrator(ledger: ledger, directory: directory)
            let writer = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try writer.script("SET search_path = appstore; BEGIN; INSERT INTO a VALUES (1)")
            let killed = Task { try await migrator.migrate() }
            try await world.settle("locktype = 'virtualxid' AND NOT granted")
            #expect(try await world.rows(valid) == ["(first,f)"])
            try await world.run(
                """
                -- Of this database alone: other tests build indexes on the same server.
                SELECT pg_terminate_backend(pid, 10000) FROM pg_locks JOIN pg_stat_activity USING (pid)
                 WHERE locktype = 'virtualxid' AND NOT granted AND datname = current_database()
                """
            )
            await #expect(throws: PostgresError.self) { _ = try await killed.value }
            try writer.script("COMMIT")
            #expect(try await world.rows(valid) == ["(first,f)"])
            await #expect(throws: LedgerError.schemaOlder(missing: ["0002_b.sql", "0003_c.sql"])) {
                try await migrator.check()
            }

            // A table of the next file is not there before the index is.
            #expect(try await world.value("to_regclass('c')") == nil)
            let report = try await migrator.migrate()
            #expect(report.applied == ["0002_b.sql", "0003_c.sql"] && report.indexesBuilt == ["first", "second"])
            #expect(try await world.rows(valid) == ["(first,t)", "(second,t)"])
            #expect(try await migrator.migrate().changedNothing)
        }
        try await withMigrations(files.merging(["0004_d.sql": "DROP INDEX CONCURRENTLY IF EXISTS first"]) { $1 }) {
            let report = try await Migrator(ledger: ledger, directory: $0).migrate()
            #expect(report.indexesDropped == ["first"] && report.applied == ["0004_d.sql"])
        }
    }

    @Test func `a file that builds indexes concurrently may contain nothing else`() async throws {
        let files = ["0001_a.sql": "CREATE TABLE a (n integer); CREATE INDEX CONCURRENTLY IF NOT EXISTS b ON a (n)"]
        try await withMigrations(files) { directory in
            let migrator = Migrator(ledger: try TestLedger.bare(), directory: directory)
            await #expect(throws: LedgerError.self) { _ = try await migrator.migrate() }
        }
    }

    @Test func `a migration builds an index on a table that is there already without blocking its writers`() throws {
        let folder = try TestLedger.sql.migrations
        var seen = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".sql") {
            let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            let code = text.split(separator: "\n").map {
                $0.prefix(upTo: $0.firstRange(of: "--")?.lowerBound ?? $0.endIndex)
            }
            .joined(separator: "\n")
            let made = Set(
                code.matches(of: /CREATE\s+(?:UNLOGGED\s+|TEMP\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)/).map(\.1)
            )
            for index in code.matches(
                of: /CREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?\w*\s*ON\s+(\w+)/
            ) {
                #expect(index.1 != nil || made.contains(index.2), "\(name): \(index.0)")
            }
            for key in code.matches(
                of: /ALTER\s+TABLE\s+(\w+)[^;]*\bADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:PRIMARY\s+KEY|UNIQUE)\b([^;]*)/
            ) {
                // Rates are few, and a refresh waits for a migration anyway.
                let isSmall = key.1 == "exchange_rates" || key.1.hasPrefix("refresh_")
                #expect(key.2.contains("USING INDEX") || made.contains(key.1) || isSmall, "\(name): \(key.0)")
            }
            seen += 1
        }
        #expect(seen > 0)
    }

    @Test func `every table, every column and every function has a comment`() async throws {
        let world = try await TestLedger()
        let silent = try await world.rows(
            """
            SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
             WHERE c.relnamespace = 'appstore'::regnamespace AND c.relkind IN ('r', 'v', 'p')
               -- Each of these views has its explanation in its file.
               AND NOT (c.relkind = 'v' AND c.relname LIKE 'refresh\\_%')
               AND (a.attnum > 0 AND col_description(c.oid, a.attnum) IS NULL
                    OR a.attnum = -1 AND obj_description(c.oid, 'pg_class') IS NULL)
            UNION ALL
            SELECT proname, '' FROM pg_proc WHERE pronamespace = 'appstore'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
            """
        )
        #expect(silent == [])
    }

    @Test func `app_id leads every primary key of a table that keeps rows of apps`() async throws {
        let world = try await TestLedger()
        let others = try await world.rows(
            """
            SELECT c.relname FROM pg_class c LEFT JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
             WHERE c.relnamespace = 'appstore'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('schema_migrations', 'schema_definitions', 'schema_views', 'stale_statistics', 'changed_rows', 'exchange_rates')
               AND c.relpersistence = 'p' AND c.relname NOT LIKE 'refresh\\_%'
               AND (SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = x.indkey[0]) IS DISTINCT FROM 'app_id'
            """
        )
        #expect(others == [])
    }

    @Test func `an app keeps its number, learns its Apple ID, and refuses another once it has a record`() async throws {
        let world = try await TestLedger()
        let name = "com.example.other"
        let first = try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: nil)
        let second = try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: 7)
        #expect(first == second)
        // The first one was mistyped: no run has loaded anything.
        #expect(try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: 8) == first)
        try await world.ledger.checkApp(bundleId: name, environment: "Sandbox", appAppleId: 9)
        #expect(try await world.value("SELECT app_apple_id FROM apps WHERE app_id = \(first.rawValue)") == "8")
        let app = first.rawValue
        let evidence = [
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
            VALUES (\(app), '1', '1', now(), '', '{}')
            """,
            """
            WITH run AS (
                INSERT INTO runs (app_id, job, fingerprint, frozen_now, version) VALUES (\(app), 'nightly', 'f', now(), '1')
                RETURNING app_id, run_id
            ) INSERT INTO run_processes (app_id, run_id, owner, host, process_id)
            SELECT app_id, run_id, gen_random_uuid(), 'host', 1 FROM run
            """,
        ]
        for (statement, table) in zip(evidence, ["transactions", "runs"]) {
            try await world.run(statement)
            await #expect(throws: LedgerError.appMismatch(found: 8, job: 9)) {
                _ = try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: 9)
            }
            await #expect(throws: LedgerError.appMismatch(found: 8, job: 9)) {
                try await world.ledger.checkApp(bundleId: name, environment: "Sandbox", appAppleId: 9)
            }
            try await world.run("DELETE FROM \(table)")
        }
        // A process that has ended no longer counts.
        try await world.run("\(evidence[1]); UPDATE run_processes SET ended_at = now()")
        #expect(try await world.ledger.app(bundleId: name, environment: "Sandbox", appAppleId: 9) == first)
        #expect(try await world.ledger.knownApp(bundleId: name, environment: "Sandbox") == first)
        #expect(try await world.ledger.knownApp(bundleId: name, environment: "Production") == nil)
    }

    private func withMigrations(
        _ files: [String: String],
        functions: [String: String] = [:],
        views: [String: String] = [:],
        _ body: (SQLDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            for (folder, files) in [("migrations", files), ("functions", functions), ("views", views)] {
                let url = URL(filePath: directory).appending(path: "sql").appending(path: folder)
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
                for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
            }
            try await body(SQLDirectory.find(executable: directory + "/storeledger"))
        }
    }
}

extension TestLedger {
    /// Lists the migrations that the baseline has replaced, as a ledger of the time before version 0.1.0 does.
    fileprivate func replaceBaseline() async throws {
        let list = try String(contentsOfFile: TestLedger.sql.path + "/replaced-migrations.sha256", encoding: .utf8)
        let rows = list.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return "('\(words[1])', '\(words[0])')"
        }
        try await run(
            """
            DELETE FROM schema_migrations WHERE name = '0001_tables.sql';
            INSERT INTO schema_migrations (name, checksum) VALUES \(rows.joined(separator: ", "))
            """
        )
    }
}
