import Ledger
import Migrations
import Postgres
import TestSupport
import Testing

/// `sql/analyst.sql`: one login that reads, and nothing else changes.
@Suite(.temporaryDatabase)
struct AnalystTests {
    private static let extraViews = [
        "extra.sql": """
        -- What is new?
        --
        -- One row for each app_id.
        -- Readers: loader, exporter, actor, analyst.
        CREATE OR REPLACE VIEW extra AS SELECT app_id FROM apps;
        """,
        "refresh_extra.sql": """
        -- What does only a refresh read?
        CREATE OR REPLACE VIEW refresh_extra AS SELECT app_id FROM apps;
        """,
    ]

    @Test
    func `an analyst reads every view for analysts and nothing else, cannot write, and psql lists just those views`()
        async throws
    {
        let world = try await TestLedger()
        try await LoginRoles.with("ana") { names in
            try await addAnalyst(names[0])
            try await expectAnalyst(names[0], in: world)
            let connection = try PostgresConnection(conninfo: Psql(role: names[0]).conninfo)
            let views = try await viewsOfAnalysts(in: world)
            for view in views {
                #expect(state(of: "SELECT * FROM \(view) LIMIT 1", on: connection) == .successfulCompletion)
            }
            #expect(views.count > 70)
            #expect(try connection.run("SHOW statement_timeout")[0].text("statement_timeout") == "1min")
            #expect(try connection.run("SHOW TimeZone")[0].text("TimeZone") == "UTC")
            #expect(state(of: "CREATE TEMP TABLE mine ()", on: connection) == .readOnlyTransaction)
            try connection.script("SET default_transaction_read_only = off")
            for statement in [
                "DELETE FROM products", "UPDATE exchange_rates SET rate = 1",
                "INSERT INTO proceeds_rules DEFAULT VALUES",
                "CREATE TABLE appstore.mine ()", "CREATE TABLE appstore_hidden.mine ()", "DELETE FROM masked_apps",
                "SELECT FROM transactions", "SELECT payload FROM signed_payloads", "SELECT FROM refresh_views()",
                "SELECT FROM appstore.refresh_trial_changes", "SELECT FROM appstore.refresh_trial_totals",
            ] { #expect(state(of: statement, on: connection) == .insufficientPrivilege, "\(statement)") }
        }
    }

    @Test func `the script changes no owner and no right of another role, and a second time nothing`() async throws {
        let world = try await TestLedger()
        try await LoginRoles.with("ana", "bea") { names in
            func rights(_ condition: String) async throws -> [String] {
                try await world.rows(
                    """
                    SELECT what, owner, a.* FROM (
                        SELECT nspname::text AS what, nspowner AS owner, coalesce(nspacl, acldefault('n', nspowner)) AS acl
                          FROM pg_namespace WHERE nspname = 'appstore'
                        UNION ALL
                        SELECT relname, relowner, coalesce(relacl, acldefault('r', relowner))
                          FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind IN ('r', 'p', 'v')
                        UNION ALL
                        SELECT oid::regprocedure::text, proowner, coalesce(proacl, acldefault('f', proowner))
                          FROM pg_proc WHERE pronamespace = 'appstore'::regnamespace
                        UNION ALL
                        SELECT 'database', datdba, coalesce(datacl, acldefault('d', datdba))
                          FROM pg_database WHERE datname = current_database()
                    ) o, aclexplode(o.acl) a WHERE \(condition) ORDER BY 1, 3, 4, 5
                    """
                )
            }
            let ofOthers = "a.grantee NOT IN (SELECT oid FROM pg_roles WHERE rolname IN ('\(names[0])', '\(names[1])'))"
            let before = try await rights(ofOthers)
            try await addAnalyst(names[0])
            try await addAnalyst(names[1])
            let once = try await rights("true")
            #expect(try await rights(ofOthers) == before)
            #expect(once.count > before.count + 140)
            try await world.run(
                "GRANT DELETE ON transactions TO \(names[0]); GRANT SELECT (payload) ON signed_payloads TO \(names[0])"
            )
            try await addAnalyst(names[0])
            #expect(try await rights("true") == once)
            try await expectAnalyst(names[0], in: world)
        }
    }

    @Test func `a view of a later migrate is the analyst's at once, and not a dashboard's that reads some views`()
        async throws
    {
        let world = try await TestLedger()
        try await LoginRoles.with("ana", "dash") { names in
            try await addAnalyst(names[0])
            try await world.run("CREATE ROLE \(names[1]); GRANT SELECT ON mrr_by_month, masked_apps TO \(names[1])")
            try await withExtraMigrations([:], views: Self.extraViews) { directory in
                let report = try await Migrator(ledger: world.ledger, directory: directory).migrate()
                #expect(Set(report.views.made) == ["extra", "refresh_extra"])
            }
            #expect(try await viewsOfAnalysts(in: world).contains("extra"))
            try await expectAnalyst(names[0], in: world)
            let shared = "(SELECT has_table_privilege('\(names[1])', 'extra', 'SELECT'))"
            #expect(try await world.value(shared) == "false")
            // The files of this version again: both views are gone.
            _ = try await Migrator(ledger: world.ledger, directory: TestLedger.sql).migrate()
            try await expectAnalyst(names[0], in: world)
            #expect(try await world.value("to_regtype('appstore_hidden.refresh_extra')") == nil)
        }
    }

    @Test func `without a ledger, without a name and for a role that may do more, the script changes nothing`()
        async throws
    {
        try await LoginRoles.with("me", "ana") { names in
            try await LoginRoles.create(names[0])
            let superuser = Psql(conninfo: try TemporaryDatabase.conninfo)
            func expectRefused(_ name: String, by psql: Psql, because words: String) async throws {
                let outcome = try await psql.script("analyst.sql", ["analyst": name])
                #expect(outcome.code == 3 && outcome.errors.contains(words), "\(outcome)")
                let found = try await TemporaryDatabase.pool(size: 1).withConnection {
                    try $0.run("SELECT FROM pg_roles WHERE rolname = $1", [.text(names[1])]).count
                }
                #expect(found == 0)
            }
            try await expectRefused(names[1], by: superuser, because: "run storeledger migrate first")
            let ledger = try ledger(of: names[0])
            _ = try await Migrator(ledger: ledger, directory: TestLedger.sql).migrate()
            try await expectRefused("", by: superuser, because: "which role?")
            try await expectRefused(names[0], by: superuser, because: "may do more than an analyst")
            try await expectRefused(names[1], by: Psql(role: names[0]), because: "permission denied to create role")
            try await ledger.transaction { try $0.script("GRANT SELECT ON transactions TO PUBLIC") }
            try await expectRefused(names[1], by: superuser, because: "from PUBLIC, on transactions")
        }
    }

    @Test func `an administrator with CREATEROLE who owns the database runs both scripts, twice`() async throws {
        try await LoginRoles.with("ana", "admin") { names in
            try await LoginRoles.create(names[1], attributes: "CREATEROLE")
            let ledger = try ledger(of: names[1])
            let migrator = Migrator(ledger: ledger, directory: try TestLedger.sql)
            _ = try await migrator.migrate()
            let app = try await ledger.app(bundleId: "com.example.game", environment: "Production", appAppleId: 1)
            let world = TestLedger(as: ledger, app: app)
            for _ in 1...2 { try await addAnalyst(names[0], by: Psql(role: names[1])) }
            try await expectAnalyst(names[0], in: world)
            try await LedgerRoles.with(administrator: names[1]) { roles in
                try await roles.apply()
                try await expectAnalyst(names[0], in: world)
                try await expectAnalyst(roles.name("analyst"), in: world)
                let others = try await world.rows(
                    "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relowner <> '\(roles.name("owner"))'::regrole"
                )
                #expect(others == [])
                let loader = try PostgresConnection(conninfo: roles.conninfo("loader"))
                #expect(state(of: "SELECT FROM appstore.transactions", on: loader) == .successfulCompletion)
            }
        }
    }

    @Test
    func `after sql/roles.sql the former owner migrates and refreshes as before, and the owner gets what it makes`()
        async throws
    {
        try await LoginRoles.with("ana", "me") { names in
            try await LoginRoles.create(names[1])
            let ledger = try ledger(of: names[1])
            _ = try await Migrator(ledger: ledger, directory: TestLedger.sql).migrate()
            let app = try await ledger.app(bundleId: "com.example.game", environment: "Production", appAppleId: 1)
            let world = TestLedger(as: ledger, app: app)
            try await addAnalyst(names[0])
            try await LedgerRoles.with { roles in
                try await withExtraMigrations(["9998_later.sql": "CREATE TABLE later ()"], views: Self.extraViews) {
                    directory in
                    _ = try await Migrator(ledger: ledger, directory: directory).migrate()
                }
                let owners = try await world.value(
                    "(SELECT string_agg(DISTINCT relowner::regrole::text, ' ') FROM pg_class WHERE relname IN ('later', 'extra', 'mrr_by_month'))"
                )
                #expect(owners == roles.name("owner"))
                try await expectAnalyst(names[0], in: world)
                _ = try await ledger.refreshViews()
                try await roles.apply()
                try await world.run(
                    "DELETE FROM later; INSERT INTO apps (bundle_id, environment) VALUES ('com.example.other', 'Sandbox')"
                )
                // The operator takes it back, and the script does not give it again.
                try await TemporaryDatabase.pool(size: 1).withConnection {
                    try $0.script("REVOKE \(roles.name("owner")) FROM \(names[1])")
                }
                try await roles.apply()
                let former = try PostgresConnection(conninfo: Psql(role: names[1]).conninfo)
                #expect(state(of: "SELECT FROM appstore.apps", on: former) == .insufficientPrivilege)
            }
        }
    }

    /// The ledger as a role sees it.
    private func ledger(of role: String) throws -> Ledger {
        let conninfo = ConnectionString(try Psql(role: role).conninfo)
        return Ledger(conninfo: conninfo, schema: "appstore", sessions: 2, deadline: .seconds(20))
    }

    /// Runs the script, which prints what the role may read.
    private func addAnalyst(_ name: String, by psql: Psql? = nil) async throws {
        let psql = try psql ?? Psql(conninfo: TemporaryDatabase.conninfo)
        let outcome = try await psql.script("analyst.sql", ["analyst": name])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.contains(/^[a-z0-9_]+ may read [0-9]+ views and tables of the schema appstore\n$/))
        #expect(outcome.output.hasPrefix("\(name) "))
    }

    private func viewsOfAnalysts(in world: TestLedger) async throws -> [String] {
        try await world.rows(
            "SELECT name FROM schema_views WHERE 'analyst' = ANY (readers) ORDER BY name COLLATE \"C\""
        )
        .map { String($0.dropFirst().dropLast()) }
    }

    /// The role reads the views for analysts and five tables, has no other right on a relation, and sees just these views.
    private func expectAnalyst(_ name: String, in world: TestLedger) async throws {
        let odd = try await world.rows(
            """
            SELECT c.relname FROM pg_class c LEFT JOIN schema_views v ON v.name = c.relname
             WHERE c.relnamespace = 'appstore'::regnamespace AND c.relkind IN ('r', 'p', 'v')
               AND ((coalesce('analyst' = ANY (v.readers), false)
                     OR c.relname IN ('products', 'exchange_rates', 'proceeds_rules', 'schema_migrations', 'schema_definitions'))
                        <> has_any_column_privilege('\(name)', c.oid, 'SELECT')
                    OR has_any_column_privilege('\(name)', c.oid, 'INSERT, UPDATE') OR has_table_privilege('\(name)', c.oid, 'DELETE, TRUNCATE'))
            """
        )
        #expect(odd == [])
        let listed = try await Psql(role: name).run("-At", "-c", "\\dv")
        let names = listed.output.split(separator: "\n").compactMap {
            $0.split(separator: "|").dropFirst().first.map(String.init)
        }
        #expect(try await names.sorted() == viewsOfAnalysts(in: world), "\(listed.errors)")
    }

    /// How a statement ends: with 00000, or with what it is refused for.
    private func state(of statement: String, on connection: borrowing PostgresConnection) -> SQLState {
        do throws(PostgresError) {
            try connection.script(statement)
            return .successfulCompletion
        } catch {
            return error.state
        }
    }
}
