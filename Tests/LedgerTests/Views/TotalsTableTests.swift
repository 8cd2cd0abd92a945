import FoundationEssentials
import Ledger
import Migrations
import Postgres
import TestSupport
import Testing

/// A table of totals follows from its view of changes; no migration makes it.
@Suite(.migratedDatabase)
struct TotalsTableTests {
    @Test func `sums with a new column need no migration, and are shown until the refresh computes them`() async throws
    {
        let world = try await ledgerWithTrial()
        let made = try await migrate(
            world,
            [
                "AS lost\nFROM trial": "AS lost,\n    sum(sign) FILTER (WHERE ends_at IS NULL) AS endless\nFROM trial",
                "will_not_renew, lost,": "will_not_renew, lost, endless,",
            ]
        )
        #expect(made == ["refresh_trial_changes", "trials_by_day"])
        let shown = "SELECT started, running, endless FROM trials_by_day"
        #expect(try await world.rows(shown) == ["(1,1,0)"])
        #expect(try await world.ledger.refreshRedefinedViews()?.everything == true)
        #expect(try await world.rows(shown) == ["(1,1,0)"])
        #expect(try await world.ledger.verifyViews() == [])
    }

    @Test func `sums by fewer columns are not shown before the refresh has computed them`() async throws {
        let world = try await ledgerWithTrial()
        let made = try await migrate(
            world,
            [
                "day, product_id, storefront.": "day, product_id.",
                "AS day, product_id, storefront,": "AS day, product_id,",
                "::date, product_id, storefront;": "::date, product_id;",
                "app_id, day, product_id, storefront, started": "app_id, day, product_id, started",
            ]
        )
        #expect(made == ["refresh_trial_changes", "trials_by_day"])
        let shown = "SELECT product_id, started, running FROM trials_by_day"
        #expect(try await world.rows(shown) == [])
        _ = try await world.ledger.refreshRedefinedViews()
        #expect(try await world.rows(shown) == ["(plus,1,1)"])
    }

    @Test func `every table of totals has a view of changes, and what the two say of each column agrees`() async throws
    {
        let world = try await TestLedger()
        let made = """
            SELECT c.relname, totals_fit(v.name, v.row_key) FROM pg_class c
              LEFT JOIN schema_views v ON v.name = regexp_replace(c.relname, '_totals$', '_changes')
             WHERE c.relnamespace = 'appstore'::regnamespace AND c.relname LIKE 'refresh%\\_totals'
            """
        #expect(try await world.count("(\(made)) t") > 25)
        #expect(try await world.rows("SELECT relname FROM (\(made)) t WHERE totals_fit IS NOT TRUE") == [])
    }

    @Test func `every view that reads totals has a second definition, from every record`() async throws {
        let world = try await TestLedger()
        let views = try await world.rows(
            """
            SELECT DISTINCT v.name FROM schema_views v
              JOIN pg_rewrite r ON r.ev_class = v.name::regclass
              JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
              JOIN pg_class c ON c.oid = d.refobjid AND c.relname ~ '^refresh_(stored_|.*_totals$)'
             WHERE v.shows_last_refresh AND v.row_key IS NOT NULL
            """
        )
        #expect(Set(views) == Set(Oracle.queries.keys.map { "(\($0))" }))
    }

    private func ledgerWithTrial() async throws -> TestLedger {
        let world = try await TestLedger()
        try await world.buy(
            "a | a | plus | now -3 days | now +4 days | 0 | offer_type=1, offer_discount_type=FREE_TRIAL"
        )
        _ = try await world.ledger.refreshViews()
        try #require(try await world.rows("SELECT product_id, started, running FROM trials_by_day") == ["(plus,1,1)"])
        return world
    }

    /// Migrates to SQL files in which the texts of `trials_by_day.sql` are replaced.
    ///
    /// - Returns: The views that were made.
    private func migrate(_ world: TestLedger, _ changes: [String: String]) async throws -> [String] {
        try await withTemporaryDirectory { directory in
            try FileManager.default.copyItem(atPath: try TestLedger.sql.path, toPath: directory + "/sql")
            let path = directory + "/sql/views/trials_by_day.sql"
            var text = try String(contentsOfFile: path, encoding: .utf8)
            for (old, new) in changes {
                try #require(text.contains(old), "\(old)")
                text = text.replacing(old, with: new)
            }
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let files = try SQLDirectory.find(executable: directory + "/storeledger")
            return try await Migrator(ledger: world.ledger, directory: files).migrate().views.made
        }
    }
}
