import FoundationEssentials
import Ledger
import Postgres
import TestSupport
import Testing

/// An upgrade of a ledger with data: `storeledger migrate` over the schema of an earlier version, and the next run.
@Suite(.migratedDatabase, .timeLimit(.minutes(15)))
struct UpgradeTests {
    /// The last migration before app transactions, statuses and orders had tables.
    private static let last = "0030"
    private static let store = SimulatedStore.Options(customers: 30, transactionsPerCustomer: 12)

    /// The repository's SQL files.
    private static var sql: SQLDirectory {
        get throws { try SQLDirectory.find(executable: #filePath) }
    }

    @Test(.slow)
    func `a ledger of the schema before 0031 is upgraded with its rows: its views show the same, and a run continues`()
        async throws
    {
        try await Stage.with(Self.store) { stage in
            // The same crawl as an earlier version makes: every record of it has a place in the earlier schema.
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -179d}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let requested = try await stage.store.requests().total
            var upgraded = job
            upgraded.schema = "earlier"
            let upgradedPath = try stage.write(upgraded.text, to: "earlier.yaml")
            let new = try stage.book()
            let old = try stage.book(schema: "earlier")

            try await Self.makeEarlierSchema(in: stage)
            try await Self.copyRows(from: new, to: old)
            let shown = try await Self.rows(of: Self.views(of: old), in: old)
            for name in ["renewals_signed", "notification_deliveries", "masked_refunds", "crawl_items_by_state"] {
                #expect(shown[name]?.isEmpty == false, "\(name): \(shown[name]?.count ?? -1) rows")
            }

            // The commands refuse the earlier schema until it is migrated.
            let refused = try await stage.storeledger("run", upgradedPath)
            #expect(refused.code == 78 && refused.errors.contains("0031_comments.sql"), "\(refused.errors)")
            let migration = try await stage.storeledger("migrate", upgradedPath)
            #expect(migration.code == 0, "\(migration.errors)")
            let applied = migration.output.split(separator: "\n").filter { $0.hasPrefix("applied ") }
            #expect(applied.first == "applied 0031_comments.sql" && applied.count >= 4, "\(migration.output)")

            // What the views showed before they show after it, and all of them what a new ledger shows.
            for (view, rows) in shown { #expect(try await Self.rows(of: view, in: old) == rows, "\(view)") }
            let views = try await Self.views(of: new)
            #expect(try await Self.views(of: old) == views)
            #expect(try await stage.storeledger("refresh", path).code == 0)
            #expect(try await stage.storeledger("refresh", upgradedPath).code == 0)
            // Earlier versions do not record the processes of a run.
            let recordedSince = ["masked_run_processes"]
            // Some have the time of the refresh.
            let shownViews = views.filter { !$0.hasPrefix("refresh_") }
            for view in shownViews
            where !Self.isAboutTime(view) && !Self.needReplay.contains(view) && !recordedSince.contains(view) {
                #expect(try await Self.rows(of: view, in: old) == Self.rows(of: view, in: new), "\(view)")
            }

            // The next run continues: it requests only what is new, and rewrites no unchanged row.
            #expect(try await stage.store.requests().total == requested)
            try await stage.run(upgradedPath)
            let again = try await stage.store.requests().total - requested
            #expect(again < requested)
            #expect(
                try await old.column("SELECT rows_new || ' ' || rows_updated FROM runs ORDER BY run_id DESC LIMIT 1")
                    == ["0 0"]
            )

            // A replay loads what the earlier schema had no place for.
            #expect(try await stage.storeledger("replay", upgradedPath).code == 0)
            for view in Self.needReplay {
                let rows = try await Self.rows(of: view, in: old, isWrittenAgain: true)
                #expect(try await Self.rows(of: view, in: new, isWrittenAgain: true) == rows, "\(view)")
            }

            // A later run loads the store's new changes.
            _ = try await stage.store.advance(changes: 10)
            try await stage.run(upgradedPath)
            expectNone(try await old.differences(from: stage.store.world()))
            upgraded.streams.append("subscriptionStatuses: {}")
            try await stage.run(try stage.write(upgraded.text, to: "earlier.yaml"))
            #expect(try await old.count("SELECT count(*) FROM subscription_statuses") > 0)
            #expect(try await old.count("SELECT count(*) FROM runs") == 4)
        }
    }

    /// Makes the schema `earlier` with the migrations up to ``last`` and the views that they have the columns for.
    private static func makeEarlierSchema(in stage: Stage) async throws {
        let folder = stage.directory + "/earlier/sql"
        for name in ["migrations", "views"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: sql.migrations) where name.prefix(4) <= last {
            try FileManager.default.copyItem(
                atPath: "\(sql.migrations)/\(name)",
                toPath: "\(folder)/migrations/\(name)"
            )
        }
        let ledger = Ledger(
            conninfo: ConnectionString(try TemporaryDatabase.conninfo),
            schema: "earlier",
            sessions: 1,
            deadline: .seconds(60)
        )
        let migrator = Migrator(ledger: ledger, directory: try SQLDirectory.find(executable: folder + "/storeledger"))
        let report = try await migrator.migrate()
        #expect(report.isNew && report.applied.last?.hasPrefix(last) == true)
        for (name, text) in try await viewsOfEarlierSchema(stage.book()) {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/views/\(name)"))
        }
        _ = try await migrator.migrate()
        // Views with sums were materialised, and the list of views had other columns.
        try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            try connection.script(
                """
                SET search_path = earlier;
                ALTER TABLE schema_views DROP COLUMN shows_last_refresh, DROP COLUMN row_key, DROP COLUMN files_checksum,
                    DROP COLUMN defines_refresh,
                    ADD COLUMN is_materialized boolean NOT NULL DEFAULT false, ADD COLUMN refreshed_at timestamptz,
                    ADD COLUMN refresh_milliseconds bigint, ADD COLUMN row_count bigint;
                CREATE MATERIALIZED VIEW mrr_by_month AS SELECT 1 AS n;
                INSERT INTO schema_views (name, checksum, position, is_materialized) VALUES ('mrr_by_month', '', 0, true)
                """
            )
        }
    }

    /// The view files that mention no table and no column of later migrations, nor a view that does.
    private static func viewsOfEarlierSchema(_ book: LedgerBook) async throws -> [String: String] {
        let columns = "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema"
        let later = try await book.column(
            """
            SELECT DISTINCT c.table_name FROM information_schema.tables c
             WHERE c.table_schema = 'appstore' AND c.table_type = 'BASE TABLE'
               AND c.table_name NOT IN (SELECT table_name FROM information_schema.tables WHERE table_schema = 'earlier')
            UNION
            SELECT DISTINCT c.column_name FROM information_schema.columns c
              JOIN information_schema.tables t USING (table_schema, table_name)
             WHERE c.table_schema = 'appstore' AND t.table_type = 'BASE TABLE'
               AND c.table_name IN (SELECT table_name FROM information_schema.tables WHERE table_schema = 'earlier')
               AND c.table_name || '.' || c.column_name NOT IN (\(columns) = 'earlier')
            """
        )
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: sql.views) where name.hasSuffix(".sql") {
            files[name] = try String(contentsOfFile: "\(sql.views)/\(name)", encoding: .utf8)
        }
        var unknown = Set(later)
        while true {
            let mentioning = files.filter { _, text in
                text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { unknown.contains(String($0)) }
            }
            guard !mentioning.isEmpty else { return files }
            for name in mentioning.keys {
                unknown.insert(String(name.dropLast(4)))
                files[name] = nil
            }
        }
    }

    /// Copies every row of the tables that both schemas have, with the columns that both have.
    ///
    /// The earlier version would have stored another hash of a row in which later columns have values.
    private static func copyRows(from new: LedgerBook, to old: LedgerBook) async throws {
        try await old.with { connection in
            let tables = try connection.run(
                """
                SELECT table_name AS name,
                       string_agg(format('%I', column_name), ', ' ORDER BY n.ordinal_position) FILTER (WHERE NOT is_later) AS columns,
                       string_agg(CASE WHEN column_name = 'content_hash' THEN format('CASE WHEN num_nulls(%s) = %s THEN content_hash END', later, count)
                                       ELSE format('%I', column_name) END, ', ' ORDER BY n.ordinal_position) FILTER (WHERE NOT is_later) AS values
                  FROM (SELECT n.*, o.column_name IS NULL AS is_later,
                               coalesce(string_agg(n.column_name, ', ') FILTER (WHERE o.column_name IS NULL) OVER tables, 'NULL') AS later,
                               greatest(count(*) FILTER (WHERE o.column_name IS NULL) OVER tables, 1) AS count
                          FROM information_schema.columns n
                          JOIN information_schema.tables t ON t.table_schema = 'earlier' AND t.table_name = n.table_name
                                                          AND t.table_type = 'BASE TABLE'
                          LEFT JOIN information_schema.columns o ON o.table_schema = 'earlier' AND o.table_name = n.table_name
                                                                AND o.column_name = n.column_name
                         WHERE n.table_schema = 'appstore' AND n.is_generated = 'NEVER'
                           AND n.table_name NOT IN ('schema_migrations', 'schema_views')
                        WINDOW tables AS (PARTITION BY n.table_name)) n
                 GROUP BY table_name
                """
            )
            // Without the checks of references, the order of the tables does not matter.
            try connection.script("BEGIN; SET LOCAL session_replication_role = replica")
            for table in tables {
                let name = try table.text("name")
                let columns = try table.text("columns")
                let values = try table.text("values")
                try connection.script(
                    """
                    TRUNCATE earlier.\(name) CASCADE;
                    INSERT INTO earlier.\(name) (\(columns)) OVERRIDING SYSTEM VALUE SELECT \(values) FROM appstore.\(name)
                    """
                )
            }
            try connection.script("COMMIT")
            let numbered = try connection.run(
                """
                SELECT format('SELECT setval(pg_get_serial_sequence(%L, %L), (SELECT max(%I) FROM earlier.%I))',
                              'earlier.' || table_name, column_name, column_name, table_name) AS statement
                  FROM information_schema.columns WHERE table_schema = 'earlier' AND is_identity = 'YES'
                """
            )
            for row in numbered { _ = try connection.run(try row.text("statement")) }
        }
    }

    /// The views of a schema.
    private static func views(of book: LedgerBook) async throws -> [String] {
        try await book.column(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'v' ORDER BY 1"
        )
    }

    /// The rows of views, by view.
    private static func rows(of views: [String], in book: LedgerBook) async throws -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for view in views where !isAboutTime(view) { rows[view] = try await Self.rows(of: view, in: book) }
        return rows
    }

    /// The rows of a view as JSON; after a replay (`isWrittenAgain`) without the time and the run of the write.
    private static func rows(
        of view: String,
        in book: LedgerBook,
        isWrittenAgain: Bool = false
    ) async throws -> [String] {
        // Of all other columns, only this one depends on the moment of the query.
        let others = "due_in" + (isWrittenAgain ? ",first_seen_at,last_changed_at,last_run_id" : "")
        return try await book.column("SELECT to_jsonb(v) - '{\(others)}'::text[] FROM \(view) v ORDER BY 1")
    }

    /// Views of records and fields that are in the archive of an earlier version and in no other table of it.
    private static let needReplay = ["masked_app_transactions", "masked_notifications"]

    /// Whether a view shows when it was last refreshed.
    private static func isAboutTime(_ view: String) -> Bool { view == "view_freshness" }
}
