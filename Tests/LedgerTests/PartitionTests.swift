import Ledger
import LedgerSchema
import Postgres
import Status
import TestSupport
import Testing

@testable import Migrations

/// A ledger whose large tables have hash partitions.
///
/// Other suites run some of their tests on such a ledger, too.
@Suite(.migratedDatabase)
struct PartitionTests {
    private static let tables = Partitioning.keys.map(\.table)

    private func migrator(_ world: TestLedger) throws -> Migrator {
        Migrator(ledger: world.ledger, directory: try TestLedger.sql)
    }

    /// Everything that the catalog says of the large tables, of their views and of the rights on both.
    private func definitions(_ world: TestLedger) async throws -> [String] {
        let tables = "c.relname = ANY ('{\(Self.tables.joined(separator: ","))}')"
        return try await world.rows(
            """
            SELECT c.relname, 'column' AS kind, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                       a.attstattarget, a.attstorage, pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum), a.attacl) AS text
              FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
              LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE \(tables)
            UNION ALL
            SELECT c.relname, 'constraint', concat_ws(' ', x.conname, pg_get_constraintdef(x.oid)) FROM pg_class c JOIN pg_constraint x ON x.conrelid = c.oid
             WHERE \(tables)
            UNION ALL
            SELECT c.relname, 'index', replace(pg_get_indexdef(i.indexrelid), ' ONLY', '') || i.indisvalid FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid
             WHERE \(tables)
            UNION ALL
            SELECT c.relname, 'trigger', t.tgenabled::text || pg_get_triggerdef(t.oid) FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid
             WHERE \(tables) AND NOT t.tgisinternal
            UNION ALL
            SELECT c.relname, 'table', concat_ws(' ', obj_description(c.oid, 'pg_class'), c.relowner::regrole, c.relacl) FROM pg_class c WHERE \(tables)
            UNION ALL
            SELECT c.relname, 'view', concat_ws(' ', pg_get_viewdef(c.oid), c.relowner::regrole, c.relacl) FROM pg_class c
             WHERE c.relkind = 'v' AND c.relnamespace = 'appstore'::regnamespace
             ORDER BY 1, 2, 3
            """
        )
    }

    @Test func `a partitioned table has everything that migrations gave the plain one, and every view and right stays`()
        async throws
    {
        let world = try await TestLedger()
        // Roles belong to the whole server; this one is always there.
        try await world.run(
            """
            GRANT SELECT ON transactions, purchases TO pg_monitor;
            GRANT SELECT (app_id) ON notifications TO pg_monitor;
            """
        )
        let before = try await definitions(world)
        let report = try await migrator(world).migrate(partitions: 4)
        #expect(report.partitions == 4 && report.applied == [] && report.views.made.count > 40)
        #expect(try await definitions(world) == before)
        for table in Self.tables {
            #expect(try await world.count("pg_inherits WHERE inhparent = '\(table)'::regclass") == 4)
            // Each partition has the statistics targets, the triggers, and a comment.
            #expect(
                try await world.rows(
                    """
                    SELECT DISTINCT obj_description(i.inhrelid, 'pg_class'),
                           (SELECT count(*) FROM pg_attribute a JOIN pg_attribute p USING (attname)
                             WHERE a.attrelid = i.inhrelid AND p.attrelid = i.inhparent AND a.attnum > 0 AND a.attstattarget <> p.attstattarget),
                           ARRAY(SELECT t.tgenabled::text || replace(pg_get_triggerdef(t.oid), i.inhrelid::regclass::text, i.inhparent::regclass::text)
                                   FROM pg_trigger t WHERE t.tgrelid = i.inhrelid AND t.tgconstraint = 0 ORDER BY 1)
                             = ARRAY(SELECT t.tgenabled::text || pg_get_triggerdef(t.oid)
                                       FROM pg_trigger t WHERE t.tgrelid = i.inhparent AND NOT t.tgisinternal ORDER BY 1)
                      FROM pg_inherits i WHERE i.inhparent = '\(table)'::regclass
                    """
                ) == ["(\"A hash partition of \(table).\",0,t)"]
            )
        }
    }

    @Test func `the number of partitions is decided once, and a second migrate with it or without one changes nothing`()
        async throws
    {
        let world = try await TestLedger(.partitioned)
        for partitions in [nil, 4] {
            let again = try await migrator(world).migrate(partitions: partitions)
            #expect(again.changedNothing && again.views.unchanged > 40)
        }
        let other = LedgerError.partitionsDecided(schema: "appstore", found: 4, requested: 8)
        await #expect(throws: other) { _ = try await migrator(world).migrate(partitions: 8) }
        #expect(other.description.contains("--partitions 8") && other.description.contains("4 partitions"))
        let (items, holder) = try await world.leased(["1"])
        _ = try await world.ledger.commit(world.page(Rows.fullPage(), of: items[0], for: holder))
        #expect(try await migrator(world).migrate(partitions: 4).changedNothing)
        #expect(try await world.count("transactions") > 0)
    }

    @Test func `a ledger with rows keeps its plain tables`() async throws {
        let world = try await TestLedger()
        _ = try await world.leased(["1"])
        let refused = LedgerError.partitionsDecided(schema: "appstore", found: 0, requested: 8)
        await #expect(throws: refused) { _ = try await migrator(world).migrate(partitions: 8) }
        #expect(try await world.count("pg_class WHERE relispartition") == 0)
        #expect(try await world.count("crawl_items") == 1)
    }

    /// The marks of a refresh and of a change export that statements leave, with how often each is left.
    private func marks(_ world: TestLedger, _ statements: String) async throws -> [String] {
        try await world.run("DELETE FROM refresh_changed_keys; DELETE FROM changed_rows")
        try await world.run(statements)
        return try await world.rows(
            """
            SELECT concat_ws(' ', kind, key) AS mark, count(*) FROM refresh_changed_keys GROUP BY 1
            UNION ALL
            SELECT concat_ws(' ', table_name, key), count(*) FROM changed_rows GROUP BY 1 ORDER BY 1
            """
        )
    }

    private func logChanges(_ world: TestLedger) async throws {
        try await world.run(
            """
            INSERT INTO change_exports (app_id, job, format, tables) VALUES (1, 'nightly', 'csv', '{transactions,notifications}')
            ON CONFLICT DO NOTHING
            """
        )
    }

    @Test
    func `a statement that names a partition leaves the marks of one that names the table, and each leaves them once`()
        async throws
    {
        let world = try await TestLedger(.partitioned)
        try await logChanges(world)
        let statements = [
            """
            INSERT INTO % (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
            VALUES (1, 't', 'o', now(), '', '{}')
            """,
            "UPDATE % SET original_transaction_id = 'p' WHERE transaction_id = 't'",
            "DELETE FROM % WHERE transaction_id = 't'",
            """
            INSERT INTO % (app_id, notification_uuid, transaction_id, signed_date, payload_sha256, payload)
            VALUES (1, 'n', 't', '2026-01-01', '', '{}')
            """,
            "UPDATE % SET transaction_id = 'u', signed_date = '2026-01-02' WHERE notification_uuid = 'n'",
            "DELETE FROM % WHERE notification_uuid = 'n'",
        ]
        for (table, key, statements) in [
            ("transactions", "transaction_id = 't'", statements.prefix(3)),
            ("notifications", "notification_uuid = 'n'", statements.suffix(3)),
        ] {
            var found: [[String]] = []
            var partition: String?
            for _ in 0..<2 {
                let named = partition ?? table
                for (place, statement) in statements.enumerated() {
                    found.append(try await marks(world, statement.replacing("%", with: named)))
                    guard place == 0 else { continue }
                    partition = try await world.value("SELECT tableoid::regclass FROM \(table) WHERE \(key)")
                }
            }
            #expect(partition?.hasPrefix(table + "_p") == true)
            #expect(Array(found.prefix(3)) == Array(found.suffix(3)))
            #expect(found.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.hasSuffix(",1)") } }, "\(found)")
        }
    }

    @Test func `a partition that is emptied makes the next refresh and the next export begin again`() async throws {
        let world = try await TestLedger(.partitioned)
        for table in ["transactions_p1", "transactions", "notifications_p0"] {
            _ = try await world.ledger.refreshViews()
            try await logChanges(world)
            try await world.run("TRUNCATE \(table) CASCADE")
            #expect(try await world.value("SELECT definitions IS NULL FROM refresh_state") == "true", "\(table)")
            #expect(try await world.count("change_exports") == 0, "\(table)")
        }
    }

    @Test func `migrate gives the partitions of an older ledger their triggers`() async throws {
        let world = try await TestLedger(.partitioned)
        let triggers = "SELECT tgrelid::regclass, pg_get_triggerdef(oid), tgenabled FROM pg_trigger ORDER BY 1, 2"
        let made = try await world.rows(triggers)
        // As before there were triggers on partitions, when a file of this version is to be applied.
        try await world.run(
            """
            DO $$
            DECLARE
                trigger record;
            BEGIN
                FOR trigger IN
                    SELECT t.tgrelid::regclass AS name, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                     WHERE c.relispartition AND NOT t.tgisinternal AND t.tgparentid = 0
                LOOP
                    EXECUTE format('DROP TRIGGER %I ON %s', trigger.tgname, trigger.name);
                END LOOP;
            END $$;
            DELETE FROM schema_definitions
            """
        )
        #expect(try await world.rows(triggers).count == made.count - 8 * 8)
        _ = try await migrator(world).migrate()
        #expect(try await world.rows(triggers) == made)
    }

    @Test func `a look-up by key reads one partition, and so does a delete`() async throws {
        let world = try await TestLedger(sessions: 1, .partitioned)
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, signed_date, payload_sha256, payload)
            SELECT \(world.app.rawValue), n, now(), '', '{}' FROM generate_series(1, 20000) n
            """
        )
        try await world.run("ANALYZE transactions")
        let app = world.app
        for statement in [
            KeyedRows.select("x.transaction_id", from: "transactions", by: "transaction_id"),
            "\(KeyedRows.delete(from: "transactions", by: "transaction_id")) RETURNING x.transaction_id",
        ] {
            // Counts of earlier transactions must not be among the counts of the next one.
            try await world.run("SELECT pg_stat_force_next_flush()")
            let (found, read) = try await world.ledger.transaction { connection in
                // As a server does by default; the tests' server makes one plan for all values.
                try connection.script("SET LOCAL plan_cache_mode = auto")
                let found = try connection.run(statement, [.integer(app.rawValue), .textArray(["17"])]).count
                let read = try connection.run(
                    """
                    SELECT relname::text AS name, idx_tup_fetch + seq_tup_read AS rows FROM pg_stat_xact_user_tables
                     WHERE relname LIKE 'transactions%' AND idx_scan + seq_scan > 0
                    """
                ).map { "\(try $0.text("name").prefix(14)): \(try $0.int64("rows"))" }
                return (found, read)
            }
            #expect(found == 1)
            #expect(read == ["transactions_p: 1"], "\(read): \(statement)")
        }
        #expect(try await world.count("transactions") == 19_999)
    }

    @Test func `an index of a later migration is built on each partition, and a build that was killed is finished`()
        async throws
    {
        let world = try await TestLedger(.partitioned)
        let file = try Migration(
            name: "9999_later.sql",
            text: """
                CREATE INDEX CONCURRENTLY IF NOT EXISTS transactions_later ON transactions (app_id, web_order_line_item_id);
                DROP INDEX CONCURRENTLY IF EXISTS transactions_product_id;
                """
        )
        let statements = try #require(file.indexStatements)
        // As a killed build leaves it: one partition is done, and the index of another is invalid.
        try await world.run(
            """
            CREATE INDEX transactions_later ON ONLY transactions (app_id, web_order_line_item_id);
            CREATE INDEX transactions_later_p0 ON transactions_p0 (app_id, web_order_line_item_id);
            ALTER INDEX transactions_later ATTACH PARTITION transactions_later_p0;
            CREATE INDEX transactions_later_p1 ON transactions_p1 (app_id, web_order_line_item_id);
            UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'transactions_later_p1'::regclass;
            """
        )
        for round in 0..<2 {
            let (built, dropped) = try await world.ledger.pages.pool.withConnection { connection in
                var indexes = ConcurrentIndexes()
                for statement in statements { try indexes.apply(statement, on: connection) }
                return (indexes.built, indexes.dropped)
            }
            #expect(built == (round == 0 ? ["transactions_later"] : []))
            #expect(dropped == (round == 0 ? ["transactions_product_id"] : []))
        }
        #expect(
            try await world.rows(
                "SELECT indisvalid, count(*) FROM pg_index WHERE indexrelid::regclass::text LIKE 'transactions_later%' GROUP BY 1"
            ) == ["(t,5)"]
        )
        #expect(try await world.count("pg_class WHERE relname LIKE 'transactions%product_id%'") == 0)
    }

    @Test func `status names a table and not its partitions, and so does the dictionary`() async throws {
        let world = try await TestLedger(.partitioned)
        let (items, holder) = try await world.leased(["1"])
        _ = try await world.ledger.commit(world.page(Rows.fullPage(), of: items[0], for: holder))
        let storage = try await world.ledger.status(
            of: "job",
            app: world.app,
            bundleId: "com.example.game",
            environment: "Production"
        ).storage
        #expect(Set(storage.map(\.table)).isSuperset(of: Self.tables))
        #expect(!storage.contains { $0.table.contains("_p0") })
        let bytes = try #require(storage.first { $0.table == "transactions" }?.bytes)
        #expect(
            try await world.value(
                "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'transactions'::regclass"
            )
                == "\(bytes)"
        )
        let names = try await world.ledger.dictionary().relations.map(\.name)
        #expect(names.contains("transactions") && !names.contains { $0.contains("_p0") })
    }
}
