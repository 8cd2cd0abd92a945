import Ledger
import Postgres
import TestSupport
import Testing

/// A refresh that computes everything writes only rows that differ, so that it keeps no reader waiting.
extension RefreshByChangesTests {
    /// The tables that a refresh fills.
    private func filled(_ world: TestLedger) async throws -> [String] {
        try await world.ledger.transaction { connection in
            try connection.run(
                """
                SELECT relname::text AS name FROM pg_class
                 WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r' AND relname ~ '^refresh_(stored_|.*_totals$)' ORDER BY 1
                """
            ).map { try $0.text("name") }
        }
    }

    /// The rows of the tables that a refresh fills; with `places`, where each is stored and by which transaction.
    private func rows(_ world: TestLedger, places: Bool = false) async throws -> [String] {
        try await world.rows(
            try await filled(world)
                .map { "SELECT '\($0)' AS name, t::text\(places ? ", ctid::text, xmin::text" : "") FROM \($0) t" }
                .joined(separator: " UNION ALL ") + " ORDER BY 1, 2"
        )
    }

    /// A hash of the rows of each view that shows the last refresh.
    private static func figures(_ connection: borrowing PostgresConnection) throws -> [String] {
        let views = try connection.run("SELECT view FROM view_freshness ORDER BY 1").map { try $0.text("view") }
        let hashes = views.map {
            "SELECT '\($0)' AS name, md5(string_agg(v::text, ' ' ORDER BY v::text)) AS hash FROM \($0) v"
        }
        return try connection.run(hashes.joined(separator: " UNION ALL ")).map {
            "\(try $0.text("name")) \(try $0.textOrNil("hash") ?? "")"
        }
    }

    @Test
    func
        `while everything is computed, readers see the earlier figures, and an older snapshot sees them afterwards, too`()
        async throws
    {
        let world = try await TestLedger()
        try await populate(world)
        _ = try await world.ledger.refreshViews()
        for table in try await filled(world) { try await world.run(inflating(table)) }
        func session() throws -> PostgresConnection {
            let session = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try session.script("SET search_path = appstore; SET lock_timeout = '30s'")
            return session
        }
        let reader = try session()
        let older = try session()
        let refresh = try session()
        let before = try Self.figures(reader)
        #expect(before.count > 25)
        try older.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM apps")
        try await world.run(
            "UPDATE transactions SET price_milliunits = price_milliunits + 10, product_id = product_id || '.new'"
        )

        try refresh.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM refresh_views(true)")
        #expect(try Self.figures(reader) == before)
        // Readers wait for no lock, on a replica neither: it applies locks of this mode.
        let locked = try refresh.run(
            """
            SELECT c.relname::text AS name FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
             WHERE l.pid = pg_backend_pid() AND l.mode = 'AccessExclusiveLock' AND c.relkind = 'r' AND c.relpersistence <> 't'
            """
        ).map { try $0.text("name") }
        #expect(locked.filter { !Self.working.contains($0) } == [])
        try refresh.script("COMMIT")

        let after = try Self.figures(reader)
        #expect(Set(after).intersection(before).count < before.count / 2)
        #expect(try Self.figures(older) == before)
        #expect(try await world.differences() == [])
    }

    @Test
    func
        `computing everything writes no row that is right, and corrects any that was changed, added, doubled or removed`()
        async throws
    {
        let world = try await TestLedger()
        try await populate(world)
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, signed_date, transaction_id, payload_sha256, payload)
            SELECT 1, 'kept' || n, t.type, t.subtype, now() - interval '50 days', (n / 2)::text, '', '{}'
              FROM generate_series(0, 39) n,
                   (VALUES (0, 'DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED'), (1, 'CONSUMPTION_REQUEST', NULL)) t (place, type, subtype)
             WHERE n % 4 / 2 = t.place;
            """
        )
        _ = try await world.ledger.refreshViews()
        let (right, places) = (try await rows(world), try await rows(world, places: true))
        _ = try await world.ledger.refreshViews(everything: true)
        #expect(try await rows(world, places: true) == places)

        #expect(
            try await world.count(
                "pg_class WHERE relname ~ '^refresh_(stored_|.*_totals$)' AND relkind = 'r' AND reloptions @> '{vacuum_truncate=off}'"
            ) == filled(world).count
        )
        var damaged = 0
        for table in try await filled(world) where try await world.count(table) > 0 {
            damaged += 1
            let hasKey = try await world.count("pg_index WHERE indrelid = '\(table)'::regclass AND indisunique") > 0
            try await world.run(
                """
                CREATE TEMP TABLE one ON COMMIT DROP AS SELECT * FROM \(table) ORDER BY ctid LIMIT 1;
                DELETE FROM \(table) WHERE ctid = (SELECT min(ctid) FROM \(table));
                INSERT INTO \(table) SELECT (jsonb_populate_record(o, '{"app_id": 99}')).* FROM one o;
                UPDATE \(table) SET app_id = 98 WHERE ctid = (SELECT max(ctid) FROM \(table) WHERE app_id = 1);
                \(hasKey ? "" : "INSERT INTO \(table) SELECT * FROM \(table) WHERE app_id = 1")
                """
            )
        }
        #expect(damaged > 30)
        #expect(try await rows(world) != right)
        _ = try await world.ledger.refreshViews(everything: true)
        let (found, expected) = (Set(try await rows(world)), Set(right))
        #expect(found == expected, "\(found.symmetricDifference(expected).sorted().prefix(6))")
        #expect(try await rows(world).count == right.count)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `parallel workers compute the same rows as one process`(layout: TestLedger.Layout) async throws {
        let world = try await TestLedger(sessions: 2, layout)
        try await populate(world)
        _ = try await world.ledger.refreshViews()
        let right = try await rows(world)
        let session = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try session.script("SET search_path = appstore")
        #expect(try session.run("SELECT refresh_workers() AS workers")[0].int32("workers") == 0)
        try session.script("SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2")
        #expect(try session.run("SELECT refresh_workers() AS workers")[0].int32("workers") == 2)
        for table in try await filled(world) + ["product_periods"] { try await world.run("DELETE FROM \(table)") }
        try session.script("SELECT count(*) FROM refresh_views(true)")
        #expect(try await rows(world) == right)
    }
}
