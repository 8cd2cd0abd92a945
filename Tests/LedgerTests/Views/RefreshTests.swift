import FoundationEssentials
import Ledger
import Migrations
import Postgres
import Status
import TestSupport
import Testing

/// Views that show the last refresh: when they are old, what makes them new, and what they never show.
@Suite(.migratedDatabase)
struct RefreshTests {
    @Test func `views are stale until first filled, after a changed record, and on the next day`() async throws {
        let world = try await TestLedger()
        #expect(try await world.ledger.viewsAreStale())
        #expect(try await world.ledger.refreshViews().everything)
        #expect(try await !world.ledger.viewsAreStale())
        #expect(try await world.ledger.refreshRedefinedViews() == nil)
        let times = "SELECT DISTINCT refreshed_at IS NOT NULL, refresh_milliseconds IS NOT NULL FROM view_freshness"
        #expect(try await world.rows(times) == ["(t,t)"])
        // A changed record, even one that someone changed by hand.
        try await world.buy("a | - | coins | 2025-01-10 | - | 1000 |")
        #expect(try await world.ledger.viewsAreStale())
        _ = try await world.ledger.refreshViews()
        #expect(try await !world.ledger.viewsAreStale())
        try await world.run("UPDATE transactions SET price_milliunits = 2000")
        #expect(try await world.ledger.viewsAreStale())
        _ = try await world.ledger.refreshViews()
        #expect(try await world.value("SELECT gross_milliunits FROM revenue_by_month") == "2000")
        // A period that ended since.
        try await world.buy("b | b | plus | now -1 days | now +1 days | 1000 |")
        _ = try await world.ledger.refreshViews()
        #expect(try await !world.ledger.viewsAreStale())
        try await world.run("UPDATE refresh_stored_periods SET due_at = now()")
        #expect(try await world.ledger.viewsAreStale())
        _ = try await world.ledger.refreshViews()
        #expect(try await !world.ledger.viewsAreStale())
        try await world.run("UPDATE refresh_state SET as_of = as_of - interval '1 day'")
        #expect(try await world.ledger.viewsAreStale())
    }

    @Test func `migrating again rebuilds no view, and computes no figure, that nothing has changed`() async throws {
        let world = try await TestLedger()
        try await world.buy("a | - | coins | 2025-01-10 | - | 1000 |")
        _ = try await world.ledger.refreshViews()
        let state =
            "SELECT name, name::regclass::oid, (SELECT as_of FROM refresh_state) FROM schema_views ORDER BY 1"
        let before = try await world.rows(state)
        try await world.buy("b | - | coins | 2025-01-10 | - | 1000 |")
        _ = try await Migrator(ledger: world.ledger, directory: try TestLedger.sql).migrate()
        #expect(try await world.rows(state) == before)
        #expect(try await world.value("SELECT purchases FROM product_summary") == "1")
    }

    /// Counts the refreshes that are committed.
    private func countRefreshes(_ world: TestLedger) async throws {
        try await world.run(
            """
            CREATE TABLE public.refreshes (xid xid8 PRIMARY KEY);
            CREATE FUNCTION public.count_refresh() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO public.refreshes VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING; RETURN NULL; END $$;
            CREATE TRIGGER count AFTER UPDATE OF as_of ON refresh_state EXECUTE FUNCTION public.count_refresh()
            """
        )
    }

    @Test func `many processes that end a run at the same moment refresh once, and the views show everything`()
        async throws
    {
        let world = try await TestLedger()
        _ = try await world.ledger.refreshViews()
        try await countRefreshes(world)
        try await world.buy("a | - | coins | 2025-01-10 | - | 1000 |")
        let outcomes = try await withThrowingTaskGroup(of: RefreshOutcome.self) { group in
            for _ in 1...6 {
                let process = try world.anotherProcess()
                group.addTask { try await process.refreshViewsIfStale() }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .upToDate(times: 1) } == 1, "\(outcomes)")
        #expect(try await world.count("public.refreshes") == 1)
        #expect(try await world.value("SELECT purchases FROM product_summary") == "1")
        #expect(try await !world.ledger.viewsAreStale())
    }

    @Test func `a run that ends while another process refreshes does not wait, and its rows are still shown`()
        async throws
    {
        let world = try await TestLedger()
        _ = try await world.ledger.refreshViews()
        try await countRefreshes(world)
        try await world.buy("a | - | coins | 2025-01-10 | - | 1000 |")
        // Stops the refresh after it has taken its snapshot.
        let gate = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try gate.script("SET search_path = appstore; BEGIN; LOCK TABLE refresh_product_totals IN SHARE MODE")
        let first = try world.anotherProcess()
        async let refresh = first.refreshViewsIfStale()
        try await world.settle("relation = 'appstore.refresh_product_totals'::regclass AND NOT granted")
        try await world.buy("b | - | coins | 2025-01-10 | - | 1000 |")
        #expect(try await world.anotherProcess().refreshViewsIfStale() == .leftToAnother)
        try gate.script("ROLLBACK")
        #expect(try await refresh == .upToDate(times: 2))
        #expect(try await world.value("SELECT purchases FROM product_summary") == "2")
        #expect(try await world.count("public.refreshes") == 2)
        #expect(try await !world.ledger.viewsAreStale())
    }

    @Test func `a refresh that waited for another shows what was committed while it waited`() async throws {
        let world = try await TestLedger()
        _ = try await world.ledger.refreshViews()
        let other = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try other.script("BEGIN; LOCK TABLE appstore.refresh_lock IN EXCLUSIVE MODE")
        let process = try world.anotherProcess()
        async let refresh = process.refreshViews()
        try await world.settle("relation = 'appstore.refresh_lock'::regclass AND NOT granted")
        try await world.buy("a | - | coins | 2025-01-10 | - | 1000 |")
        try other.script("ROLLBACK")
        #expect(try await refresh.purchases == 1)
        #expect(try await world.value("SELECT purchases FROM product_summary") == "1")
    }

    @Test func `two refreshes at once both succeed, and show what was there when the later one began`() async throws {
        let world = try await TestLedger(sessions: 2)
        _ = try await world.ledger.refreshViews()
        try await world.buy("a | - | coins | 2025-01-10 | - | 1000 |")
        async let first = world.ledger.refreshViews()
        async let second = world.ledger.refreshViews()
        #expect(try await first.purchases + second.purchases == 1)
        #expect(try await world.value("SELECT purchases FROM product_summary") == "1")
    }

    @Test
    func `a view that shows the last refresh shows no ID of a customer, a purchase or a device`()
        async throws
    {
        let world = try await TestLedger()
        let naming = try await world.rows(
            """
            SELECT relname, attname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
             WHERE relname IN (SELECT view FROM view_freshness) AND relnamespace = 'appstore'::regnamespace
               AND (attname LIKE '%transaction%' OR attname LIKE '%uuid' OR attname LIKE '%token%' OR attname LIKE '%web_order%'
                    OR attname IN ('customer_key', 'item_key', 'owner_key'))
            """
        )
        #expect(naming.isEmpty)
    }

    @Test
    func
        `a file of sql/views makes the view of its name, after those of its totals, and says which question it answers in its first line`()
        async throws
    {
        let world = try await TestLedger()
        let folder = Executables.checkout + "/sql/views"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(files.count > 30)
        var views: [String] = []
        for file in files {
            let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            let first = text.prefix { $0 != "\n" }
            #expect(first.hasPrefix("-- ") && first.hasSuffix("?"), "\(file): \(first)")
            if !file.hasSuffix("_comments.sql"), !file.hasSuffix("_changes.sql") {
                views.append(String(file.dropLast(4)))
            }
        }
        let found = try await world.rows(
            """
            SELECT relname FROM pg_class
             WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'v' AND relname NOT LIKE '%\\_changes'
             ORDER BY relname COLLATE "C"
            """
        )
        #expect(found == views.map { "(\($0))" })
    }

    @Test func `docs/analysts/dictionary.md is what storeledger dictionary writes`() async throws {
        let world = try await TestLedger()
        let written = try String(contentsOfFile: Executables.checkout + "/docs/analysts/dictionary.md", encoding: .utf8)
        let said = try await world.ledger.dictionary().markdown.map { $0 + "\n" }.joined()
        #expect(
            written == said,
            "generate it again: scripts/demo --with storeledger dictionary jobs/demo.yaml > docs/analysts/dictionary.md"
        )
        #expect(!said.contains("|  |"), "something has no comment")
    }

    @Test func `dbt/models/sources.yml is what storeledger dictionary --dbt-sources writes`() async throws {
        let world = try await TestLedger()
        let written = try String(contentsOfFile: Executables.checkout + "/dbt/models/sources.yml", encoding: .utf8)
        let said = try await world.ledger.dictionary().dbtSources.map { $0 + "\n" }.joined()
        #expect(written == said, "generate it again: storeledger dictionary JOB --dbt-sources > dbt/models/sources.yml")
        for name in ["transactions", "renewals", "runs"] { #expect(said.contains("      - name: \(name)\n")) }
        #expect(said.contains("accepted_values: {arguments: {values: [PURCHASE, RENEWAL]}"))
    }
}
