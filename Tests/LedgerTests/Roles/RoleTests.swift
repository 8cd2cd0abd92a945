import Ledger
import LedgerSchema
import Migrations
import Postgres
import Status
import TestSupport
import Testing

/// `sql/roles.sql`: each role may do what its work needs, and nothing else.
@Suite(.migratedDatabase, .slow)
struct RoleTests {
    @Test func `D20 D21 D22 D23 D24 every role may do what the golden list says, and gets 42501 for all else`()
        async throws
    {
        try await withLedgerAndRoles { _, roles in
            for (word, letter) in [
                ("migrator", "m"), ("loader", "l"), ("exporter", "e"), ("eraser", "d"), ("analyst", "a"),
            ] {
                let found = try attempts(as: word, of: roles)
                for (statement, state) in zip(RoleMatrix.statements, found) {
                    let isAllowed = statement.allowed.contains(letter)
                    #expect(
                        state == (isAllowed ? .successfulCompletion : .insufficientPrivilege),
                        "\(word): \(statement.sql)"
                    )
                }
            }
        }
    }

    /// Runs every statement of the list in a separate transaction, which is rolled back.
    private func attempts(as word: String, of roles: LedgerRoles) throws -> [SQLState] {
        let connection = try PostgresConnection(conninfo: roles.conninfo(word))
        return try RoleMatrix.statements.map { statement in
            // Rights are asked for here, not the settings that come before them.
            try connection.script("BEGIN READ WRITE; SET LOCAL search_path = appstore, pg_temp")
            defer { try? connection.script("ROLLBACK") }  // the next BEGIN would tell
            return end(of: statement.sql.replacing("ROLE_", with: roles.prefix + "_"), on: connection)
        }
    }

    /// How a script ends: with 00000, or with what it is refused for.
    private func end(of script: String, on connection: borrowing PostgresConnection) -> SQLState {
        do throws(PostgresError) {
            try connection.script(script)
            return .successfulCompletion
        } catch {
            return error.state
        }
    }

    @Test func `migrate gives the roles of an existing installation the rights on new tables, columns and functions`()
        async throws
    {
        let world = try await TestLedger()
        // The release before 0018 to 0022 had none of these.
        try await world.run(
            """
            DROP TABLE action_input_rows, customer_groups, group_members, seats, seat_claims, seat_price_tiers, forwards CASCADE;
            ALTER TABLE runs DROP COLUMN unreadable_receipts CASCADE;
            ALTER TABLE schema_drift DROP COLUMN remark CASCADE;
            DROP INDEX action_rows_seat_subscription, action_rows_member;
            DELETE FROM schema_views WHERE to_regclass('appstore.' || name) IS NULL;
            DELETE FROM schema_migrations WHERE name >= '0018';
            DROP FUNCTION seat_claim_has_ended, reusable_request_id;
            DELETE FROM schema_definitions WHERE name = 'functions/actions.sql'
            """
        )
        try await LedgerRoles.with { roles in
            let migrator = Migrator(ledger: world.ledger, directory: try TestLedger.sql)
            _ = try await migrator.migrate()
            let rights = """
                SELECT what, grantee::regrole, privilege_type FROM (
                    SELECT relname AS what, (aclexplode(relacl)).* FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r'
                    UNION ALL
                    SELECT relname || '.' || attname, (aclexplode(attacl)).*
                      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r') a
                UNION ALL
                SELECT proname, grantee::regrole, privilege_type
                  FROM (SELECT proname, (aclexplode(proacl)).* FROM pg_proc WHERE pronamespace = 'appstore'::regnamespace) f
                UNION ALL
                SELECT relname, relowner::regrole, 'OWNER' FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r'
                """
            let found = Set(try await world.rows(rights))
            try await roles.apply()
            let expected = Set(try await world.rows(rights))
            #expect(expected.count > 300)
            let differences = found.symmetricDifference(expected).sorted()
            #expect(differences == [])
        }
    }

    @Test func `PUBLIC has nothing: neither in the ledger nor in its database`() async throws {
        try await withLedgerAndRoles { world, roles in
            let open = try await world.rows(
                """
                WITH granted AS (
                    SELECT 'schema ' || nspname AS what, (aclexplode(coalesce(nspacl, acldefault('n', nspowner)))).*
                      FROM pg_namespace WHERE nspname IN ('appstore', 'public')
                    UNION ALL
                    SELECT 'relation ' || relname, (aclexplode(coalesce(relacl, acldefault('r', relowner)))).*
                      FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind <> 'S'
                    UNION ALL
                    SELECT 'column ' || attname, (aclexplode(attacl)).*
                      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'appstore'::regnamespace
                    UNION ALL
                    SELECT 'function ' || proname, (aclexplode(coalesce(proacl, acldefault('f', proowner)))).*
                      FROM pg_proc WHERE pronamespace = 'appstore'::regnamespace
                    UNION ALL
                    SELECT 'database', (aclexplode(datacl)).* FROM pg_database WHERE datname = current_database()
                ) SELECT what, privilege_type FROM granted WHERE grantee = 0
                """
            )
            #expect(open.isEmpty)
            // Only the owner has rights on objects of a later migration until the script has run again.
            try PostgresConnection(conninfo: roles.conninfo("migrator")).script(
                "CREATE FUNCTION appstore.later() RETURNS integer LANGUAGE sql AS 'SELECT 1'; CREATE TABLE appstore.later ()"
            )
            for word in ["loader", "exporter", "eraser", "analyst"] {
                let connection = try PostgresConnection(conninfo: roles.conninfo(word))
                #expect(end(of: "SELECT appstore.later()", on: connection) == .insufficientPrivilege)
                #expect(end(of: "SELECT FROM appstore.later", on: connection) == .insufficientPrivilege)
            }
            let owner = try await world.value("SELECT DISTINCT relowner::regrole FROM pg_class WHERE relname = 'later'")
            #expect(owner == roles.name("owner"))
        }
    }

    /// The views that show the IDs of tokens, which the masked views hide.
    private static let withTokens = ["external_purchase_report_lines", "external_purchase_tokens"]

    @Test
    func
        `the analyst may read every view except a refresh's and those with tokens, no table but the user's and the version`()
        async throws
    {
        try await withLedgerAndRoles { world, roles in
            let analyst = roles.name("analyst")
            let odd = try await world.rows(
                """
                SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind IN ('r', 'v')
                   AND has_table_privilege('\(analyst)', oid, 'SELECT')
                       IS DISTINCT FROM (relkind = 'v' AND relname NOT LIKE '%\\_at\\_refresh' AND relname NOT LIKE 'refresh\\_%'
                           OR relname IN ('products', 'exchange_rates', 'proceeds_rules', 'schema_migrations', 'schema_definitions'))
                """
            )
            #expect(odd.sorted() == Self.withTokens.map { "(\($0))" })
        }
    }

    @Test func `the analyst reads every view of the dictionary, and nothing that a refresh keeps for itself`()
        async throws
    {
        try await withLedgerAndRoles { world, roles in
            let relations = try await world.ledger.dictionary().relations
            let connection = try PostgresConnection(conninfo: roles.conninfo("analyst"))
            let shown = relations.filter { $0.isShown && !Self.withTokens.contains($0.name) }
            #expect(shown.count > 50)
            for relation in shown {
                let state = end(of: "SELECT * FROM \(relation.name) LIMIT 1", on: connection)
                #expect(state == .successfulCompletion, "\(relation.name)")
            }
            let kept = relations.filter(\.isOfRefresh)
            #expect(kept.count > 80)
            for relation in kept {
                let state = end(of: "SELECT * FROM appstore.\(relation.name) LIMIT 1", on: connection)
                #expect(state == .insufficientPrivilege, "\(relation.name)")
            }
        }
    }

    @Test func `refreshing needs no right of the loader's own, and skips objects that the loader made`() async throws {
        try await withLedgerAndRoles { world, roles in
            let connection = try PostgresConnection(conninfo: roles.conninfo("loader"))
            try await world.run("UPDATE refresh_state SET definitions = NULL")
            try connection.script(
                """
                CREATE TEMP TABLE transactions (n integer); SET search_path = pg_temp, appstore, pg_catalog;
                SELECT count(*) FROM appstore.refresh_views()
                """
            )
            #expect(try await world.rows("SELECT view FROM view_freshness WHERE refreshed_at IS NULL") == [])
        }
    }

    @Test func `the script a second time changes nothing, and takes back what was granted too much`() async throws {
        try await withLedgerAndRoles { world, roles in
            let rights = """
                SELECT relname, relowner, relacl, (SELECT array_agg(attacl::text ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid)
                  FROM pg_class c WHERE relnamespace = 'appstore'::regnamespace ORDER BY 1
                """
            let before = try await world.rows(rights)
            try await roles.apply()
            #expect(try await world.rows(rights) == before)
            try await world.run(
                """
                GRANT DELETE ON transactions TO \(roles.name("loader"));
                GRANT SELECT (payload) ON transactions TO \(roles.name("analyst"));
                ALTER TABLE apps OWNER TO CURRENT_USER
                """
            )
            #expect(try await world.rows(rights) != before)
            try await roles.apply()
            #expect(try await world.rows(rights) == before)
        }
    }

    @Test func `only the roles that a view's file names may read the view`() async throws {
        try await withLedgerAndRoles { world, roles in
            let rights = """
                SELECT v.name, role, has_table_privilege('\(roles.name(""))' || role, 'appstore.' || v.name, 'SELECT') AS may,
                       role = ANY (v.readers) AS named
                  FROM schema_views v, unnest('{loader,exporter,actor,analyst,receiver,eraser,approver}'::text[]) role
                """
            let granted = try await world.count("(\(rights)) r WHERE may AND named")
            #expect(granted > 200)
            let others = try await world.rows("SELECT name, role FROM (\(rights)) r WHERE may <> named")
            #expect(others == [])
        }
    }

    @Test func `a role that was locked stays locked, and a mighty one is refused`() async throws {
        try await withLedgerAndRoles { world, roles in
            try await world.run("ALTER ROLE \(roles.name("loader")) NOLOGIN")
            try await roles.apply()
            let refused = #expect(throws: PostgresError.self) {
                _ = try PostgresConnection(conninfo: roles.conninfo("loader"))
            }
            #expect(refused?.isAuthentication == true)
            try await world.run("ALTER ROLE \(roles.name("analyst")) CREATEROLE")
            await #expect(throws: LedgerRoles.Failed.self) { try await roles.apply() }
        }
    }

    @Test func `the analyst's session is read-only and gives up after a minute`() async throws {
        try await withLedgerAndRoles { _, roles in
            let connection = try PostgresConnection(conninfo: roles.conninfo("analyst"))
            #expect(try connection.run("SHOW statement_timeout")[0].text("statement_timeout") == "1min")
            #expect(end(of: "CREATE TABLE mine ()", on: connection) == .readOnlyTransaction)
            #expect(try connection.run("SELECT transaction_id FROM masked_transactions").count == 0)
            try connection.script("SET statement_timeout = '50ms'")
            #expect(end(of: "SELECT pg_sleep(30)", on: connection) == .queryCanceled)
            try connection.script("RESET statement_timeout")
            // What the server keeps about columns is shown only to those who may read them.
            let seen = try connection.run("SELECT FROM pg_stats WHERE schemaname = 'appstore' AND attname <> 'n'")
            #expect(seen.count == 0)
        }
    }

    @Test func `a caller's own objects are never taken for the ledger's by its functions`() async throws {
        try await withLedgerAndRoles { world, roles in
            try await world.run(
                "INSERT INTO apps (bundle_id, environment) VALUES ('com.example.other', 'Sandbox')"
            )
            let connection = try PostgresConnection(conninfo: roles.conninfo("loader"))
            try connection.script(
                """
                CREATE TEMP TABLE crawl_items (n integer); CREATE TEMP TABLE rate_scopes (app_id integer, endpoint text);
                INSERT INTO pg_temp.crawl_items SELECT generate_series(1, 7);
                CREATE FUNCTION pg_temp.coalesce_trap(interval, interval) RETURNS interval LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'the caller''s operator ran'; END $$;
                CREATE OPERATOR pg_temp.+ (LEFTARG = interval, RIGHTARG = interval, FUNCTION = pg_temp.coalesce_trap);
                SET search_path = pg_temp, appstore, pg_catalog;
                SELECT appstore.analyze_crawl_items()
                """
            )
            let analyzed = try connection.run(
                "SELECT (SELECT reltuples FROM pg_class WHERE oid = 'pg_temp.crawl_items'::regclass)::bigint AS mine"
            )
            #expect(try analyzed[0].int64("mine") == -1)
            let grant = try connection.run(
                """
                SELECT granted FROM appstore.rate_take(1, 'refundHistory', 1, 100,
                    interval '1 hour', interval '10 seconds', interval '30 seconds')
                """
            )
            #expect(try grant[0].int64("granted") == 1)
            #expect(try await world.count("rate_scopes") == 1)
            // Every function that runs with the owner's rights sets its own path, with temporary objects last.
            let loose = try await world.rows(
                """
                SELECT proname FROM pg_proc WHERE pronamespace = 'appstore'::regnamespace
                   AND (prosecdef OR proname = 'rate_take') AND (proconfig IS NULL OR NOT proconfig::text ~ 'search_path=(appstore|\\\\"appstore\\\\"), *pg_temp')
                """
            )
            #expect(loose.isEmpty)
        }
    }

    @Test func `a masked view shows every column of its table but the masked ones, with its comment`() async throws {
        let world = try await TestLedger()
        let hidden = try await world.rows(
            """
            SELECT replace(view.relname, 'masked_', '') AS name, a.attname
              FROM pg_class view
              JOIN pg_class source ON source.relname = replace(view.relname, 'masked_', '')
                                  AND source.relnamespace = view.relnamespace
              JOIN pg_attribute a ON a.attrelid = source.oid AND a.attnum > 0 AND NOT a.attisdropped
             WHERE view.relname LIKE 'masked\\_%' AND view.relnamespace = 'appstore'::regnamespace AND view.relkind = 'v'
               AND NOT EXISTS (SELECT FROM pg_attribute s WHERE s.attrelid = view.oid AND s.attname = a.attname)
             ORDER BY 1, a.attnum
            """
        )
        var masked = Dictionary(
            uniqueKeysWithValues: Tables.snapshots.map { ($0.name, RecordKind.ofPayloads(in: $0).maskedColumns) }
        )
        masked["runs"] = ["fingerprint", "message", "begun_by", "job_file", "job_host", "streams_fingerprint"]
        masked["run_processes"] = ["owner"]
        let expected = masked.flatMap { table, columns in columns.map { "(\(table),\($0))" } }
        #expect(hidden.sorted() == expected.sorted())
        let silent = try await world.rows(
            """
            SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
             WHERE c.relkind = 'v' AND c.relnamespace = 'appstore'::regnamespace AND c.relname NOT LIKE 'refresh\\_%'
               AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)
            """
        )
        #expect(silent.isEmpty)
        // What analysts may read in addition to the masked views shows nothing that those hide; no view is forgotten.
        let telling = try await world.rows(
            """
            SELECT relname, attname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
              JOIN schema_views v ON v.name = relname AND 'analyst' = ANY (v.readers)
             WHERE relkind = 'v' AND relnamespace = 'appstore'::regnamespace AND relname NOT LIKE 'refresh\\_%'
               AND (attname IN ('app_account_token', 'payload', 'payload_sha256', 'external_purchase_id', 'advanced_commerce_consistency_token',
                                'raw', 'message', 'signature', 'cursor') OR attname LIKE '%device%' OR atttypid IN ('uuid'::regtype, 'jsonb'::regtype, 'bytea'::regtype))
            """
        )
        #expect(telling.isEmpty)
        let leaky = try await world.rows(
            """
            SELECT relname FROM pg_class WHERE relkind = 'v' AND relname LIKE 'masked%'
               AND NOT coalesce(reloptions @> '{security_barrier=true}', false)
            """
        )
        #expect(leaky.isEmpty)
    }

    /// A migrated ledger whose roles are in force.
    private func withLedgerAndRoles(_ body: (TestLedger, LedgerRoles) async throws -> Void) async throws {
        let world = try await TestLedger()
        _ = try await world.ledger.refreshViews()
        try await LedgerRoles.with { roles in try await body(world, roles) }
    }
}
