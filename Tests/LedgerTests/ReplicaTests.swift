import Postgres
import TestSupport
import Testing

@testable import Ledger

@Suite(.migratedDatabase)
struct ReplicaTests {
    /// The errors of Aurora PostgreSQL's functions about WAL.
    @Test(arguments: ["55000", "0A000"])
    func `a replica without functions about WAL has what its last checkpoint has`(state: String) async throws {
        let world = try await TestLedger()
        let session = try world.ledger.connectApart()
        // The session finds the functions in `odd` first: they answer as such a replica does.
        try session.script(
            """
            CREATE SCHEMA odd;
            CREATE FUNCTION odd.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true';
            CREATE FUNCTION odd.pg_last_xact_replay_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$
            BEGIN
                RAISE 'not supported here' USING ERRCODE = '\(state)';
            END $$;
            SET search_path = odd, pg_catalog
            """
        )
        let checkpoint = "SELECT \(Ledger.moment("(pg_control_checkpoint()).checkpoint_time")) AS moment"
        let before = try session.run(checkpoint)[0].text("moment")
        let replica = try Replica(session)
        let after = try session.run(checkpoint)[0].text("moment")
        // Other tests can cause a checkpoint meanwhile.
        let found = try #require(replica?.appliedUntil)
        #expect(before <= found && found <= after)
    }
}
