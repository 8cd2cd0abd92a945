import AppStoreModel
import Erasure
import FoundationEssentials
import Ledger
import LedgerSchema
import Migrations
import Planning
import Postgres
import TestSupport
import Testing

/// The ledger's locks: which role can take them, how long they are waited for, and what the error says.
@Suite(.temporaryDatabase)
struct LockTests {
    /// What the ledger's advisory locks were made of, before tables took their place.
    private static let oldKeys = [
        "storeledger erasure 1", "storeledger run 1 nightly-sync", "storeledger refresh appstore",
        "storeledger appstore",
    ]

    @Test
    func `an analyst who takes every lock that an analyst can take stops no run, page, erasure, refresh or migration`()
        async throws
    {
        let world = try await TestLedger()
        _ = try await world.ledger.refreshViews()
        try await LedgerRoles.with { roles in
            let views = try await world.rows(
                "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relname LIKE 'masked\\_%'"
            ).map { $0.dropFirst().dropLast() }
            #expect(views.count == 19)
            let analyst = try PostgresConnection(conninfo: roles.conninfo("analyst"))
            try analyst.script(
                Self.oldKeys.map { "SELECT pg_advisory_lock(hashtextextended('\($0)', 0));" }.joined() + "BEGIN;"
                    + views.map { "SELECT count(*) FROM \($0);" }.joined()
            )

            let loader = TestLedger(as: try ledger(roles, "loader"), app: world.app)
            var (items, holder) = try await loader.leased(["100001"])
            try await loader.commit(PageRows(Rows.transaction("100001")), of: &items[0], for: holder)
            #expect(try await world.count("transactions") == 1)
            #expect(try await loader.ledger.refreshViewsIfStale() != .leftToAnother)
            #expect(try await loader.ledger.refreshViews(everything: true).purchases == 1)
            let customer = try #require(TransactionID("100001"))
            let erasure = try await ledger(roles, "eraser").erase([.transaction(customer)], in: [world.app])
            #expect(erasure.removed.contains { $0.table == "transactions" })
            try await withExtraMigrations([
                "9990_table.sql": "CREATE TABLE later (app_id integer PRIMARY KEY)",
                "9991_index.sql":
                    "CREATE INDEX CONCURRENTLY IF NOT EXISTS later_index ON transactions (app_id, currency);",
            ]) { sql in
                let report = try await Migrator(ledger: try ledger(roles, "migrator"), directory: sql).migrate()
                #expect(report.indexesBuilt == ["later_index"])
                #expect(report.views.made.isEmpty)
            }
            // All that time it had its locks.
            let held =
                "pg_locks WHERE pid = \(try analyst.run("SELECT pg_backend_pid() AS pid")[0].int64("pid")) AND granted"
            #expect(try await world.count("\(held) AND locktype = 'advisory'") == Self.oldKeys.count)
            #expect(try await world.count("\(held) AND mode = 'AccessShareLock'") > views.count)
        }
    }

    @Test func `a role that only reads can lock no table against writers, and no row`() async throws {
        let world = try await TestLedger()
        try await LedgerRoles.with { roles in
            let relations = try await world.rows(
                "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind IN ('r', 'v')"
            ).map { $0.dropFirst().dropLast() }
            let analyst = try PostgresConnection(conninfo: roles.conninfo("analyst"))
            for relation in relations {
                for mode in [
                    "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "EXCLUSIVE", "ACCESS EXCLUSIVE",
                ] {
                    #expect(
                        try refusal(of: "LOCK TABLE appstore.\(relation) IN \(mode) MODE", analyst)
                            == .insufficientPrivilege
                    )
                }
                for strength in ["UPDATE", "SHARE", "KEY SHARE"] {
                    let sql = "SELECT 1 FROM appstore.\(relation) FOR \(strength)"
                    #expect(try refusal(of: sql, analyst) == .insufficientPrivilege, "\(sql)")
                }
            }
        }
    }

    @Test func `without sql/roles.sql, too, PUBLIC may call no function that runs with the owner's rights`()
        async throws
    {
        let world = try await TestLedger()
        let open = try await world.rows(
            """
            SELECT p.oid::regprocedure FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a
             WHERE pronamespace = 'appstore'::regnamespace AND prosecdef AND a.grantee = 0
            """
        )
        #expect(open.isEmpty)
    }

    @Test func `a run that waits in vain for another one to begin says which session it waited for`() async throws {
        let world = try await TestLedger()
        _ = try await world.begin("transactionHistory: {}", ids: ["1"])
        let blocker = try PostgresConnection(
            ConnectionString(try TemporaryDatabase.conninfo, applicationName: "left open")
        )
        let process = try blocker.run("SELECT pg_backend_pid() AS pid")[0].int64("pid")
        try blocker.script("BEGIN; SELECT FROM appstore.jobs FOR UPDATE")
        var patient = world.plan(try await Jobs.load(streams: "transactionHistory: {}"), restart: true)
        patient.lockTimeout = .milliseconds(20)
        let plan = patient
        let joined = await #expect(throws: LockTimeout.self) {
            _ = try await world.ledger.beginOrJoin(plan, ids: .none)
        }
        let retried = await #expect(throws: LockTimeout.self) { _ = try await world.ledger.retryFailed(plan) }
        for timeout in [joined, retried] {
            let holder = try #require(timeout?.holders.first)
            #expect(timeout?.holders.count == 1)
            #expect(holder.processID == process)
            #expect(holder.application == "left open")
            #expect(holder.relation == "jobs" && holder.mode == "RowShareLock")
            #expect(holder.since != nil)
        }
    }

    @Test func `what waits in vain for a lock of any other kind says who holds it, without a control character`()
        async throws
    {
        let world = try await TestLedger()
        let blocker = try PostgresConnection(
            ConnectionString(try TemporaryDatabase.conninfo, applicationName: "a\u{1b}[2Jb")
        )
        try blocker.script("BEGIN; LOCK TABLE appstore.runs IN ACCESS EXCLUSIVE MODE")
        let timeout = await #expect(throws: LockTimeout.self) {
            try await world.ledger.transaction { connection in
                try connection.script("SET LOCAL lock_timeout = '20ms'; SELECT FROM runs")
            }
        }
        let description = try #require(timeout?.holders.first?.description)
        #expect(description.contains("AccessExclusiveLock on runs"))
        #expect(!description.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func `a page that asks again for the erasure lock is not stopped by an erasure that waits for it`()
        async throws
    {
        let world = try await TestLedger()
        let page = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try page.script("SET search_path = appstore; BEGIN; SELECT erasure_key(1)")
        let customer = try #require(TransactionID("100001"))
        async let erasure = world.anotherProcess().erase([.transaction(customer)], in: [world.app])
        try await world.settle("relation = 'appstore.erasure_lock'::regclass AND NOT granted")
        try page.script("SELECT erasure_key(1); COMMIT")
        #expect(try await erasure.tombstones == 1)
        // The lock is on the table, so it writes no row and no log of one.
        #expect(try await world.value("pg_relation_size('erasure_lock') + pg_relation_size('refresh_lock')") == "0")
    }

    private func ledger(_ roles: LedgerRoles, _ word: String) throws -> Ledger {
        Ledger(
            conninfo: ConnectionString(roles.conninfo(word)),
            schema: "appstore",
            sessions: 2,
            deadline: .seconds(20)
        )
    }

    private func refusal(of sql: String, _ connection: borrowing PostgresConnection) throws -> SQLState {
        try connection.script("BEGIN READ WRITE")
        defer { try? connection.script("ROLLBACK") }  // the next BEGIN would tell
        do throws(PostgresError) {
            try connection.script(sql)
            return .successfulCompletion
        } catch {
            return error.state
        }
    }
}

extension TestLedger {
    /// Returns once `pg_locks` has a row that fits, of a session in this database.
    func settle(_ condition: String) async throws {
        let found = "pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND \(condition)"
        while try await count(found) == 0 {
            // Each question costs the server time that it needs for the session waited for.
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// The repository's SQL files, and more migrations.
func withExtraMigrations(
    _ files: [String: String],
    views: [String: String] = [:],
    _ body: (SQLDirectory) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        try FileManager.default.copyItem(atPath: TestLedger.sql.path, toPath: directory + "/sql")
        for (folder, files) in [("migrations", files), ("views", views)] {
            for (name, text) in files {
                try Data(text.utf8).write(to: URL(filePath: directory + "/sql/\(folder)/" + name))
            }
        }
        try await body(SQLDirectory.find(executable: directory + "/storeledger"))
    }
}
