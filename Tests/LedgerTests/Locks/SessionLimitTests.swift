import AppStoreModel
import JobFiles
import Ledger
import LedgerSchema
import Planning
import Postgres
import Publish
import TestSupport
import Testing

/// Limits of time that a server sets on roles, as managed servers do, end no work of the ledger's.
@Suite(.migratedDatabase)
struct SessionLimitTests {
    /// What the server allows a statement, and what each statement here takes at least; a session needs less to connect.
    private static let (limit, work) = ("200ms", "0.5")

    @Test func `a long refresh, export and plan pass under any time limits of the role`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["100001"])
        try await world.commit(PageRows(Rows.transaction("100001")), of: &items[0], for: holder)
        try await LedgerRoles.with { roles in
            // Each reading of a row takes its time; the owner of the views is no exception.
            try await world.run(
                """
                ALTER TABLE transactions ENABLE ROW LEVEL SECURITY; ALTER TABLE transactions FORCE ROW LEVEL SECURITY;
                CREATE POLICY slow ON transactions USING (pg_sleep(\(Self.work)) IS NOT NULL);
                ALTER ROLE \(roles.name("loader")) SET statement_timeout = '\(Self.limit)';
                ALTER ROLE \(roles.name("loader")) SET idle_in_transaction_session_timeout = '\(Self.limit)';
                ALTER ROLE \(roles.name("loader")) SET lock_timeout = '1ms';
                ALTER ROLE \(roles.name("loader")) SET idle_session_timeout = '\(Self.limit)';
                """
            )
            let ledger = Ledger(
                conninfo: ConnectionString(roles.conninfo("loader")),
                schema: "appstore",
                sessions: 1,
                deadline: .seconds(20)
            )
            #expect(try await ledger.refreshViews(everything: true).everything)
            try await withTemporaryDirectory { directory in
                let files = FileOutput(.csv, directory: directory, tables: ["transactions"])
                let order = PublishOrder(files, job: "j", run: nil, trustedRoots: [])
                let manifest = try await ledger.publish(order, of: world.app)
                #expect(manifest.files.map(\.rows) == [1])
            }
            let loader = TestLedger(as: ledger, app: world.app)
            let plan = loader.plan(try await Jobs.load(streams: "transactionHistory: {}", name: "another"))
            let query = "SELECT transaction_id FROM appstore.transactions"
            #expect(try await ledger.beginOrJoin(plan, ids: .query(query)).listedIDs == 1)
            // Between two statements the program may take its time, too.
            try await ledger.transaction { connection in
                try connection.script("SELECT 1")
                let other = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
                try other.script("SELECT pg_sleep(\(Self.work))")
                try connection.script("SELECT 1")
            }
        }
    }
}
