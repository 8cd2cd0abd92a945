import AppStoreModel
import Ledger
import Postgres
import TestSupport
import Testing

/// A server that goes away in the middle of a page.
@Suite(.migratedDatabase)
struct LostAnswerTests {
    /// The first `times` transactions that insert a transaction lose their session when they come to `moment`.
    private func breakSessions(_ world: TestLedger, times: Int, _ trigger: String) async throws {
        try await world.run(
            """
            CREATE SEQUENCE breaks;
            CREATE FUNCTION break_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('breaks') <= \(times) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                RETURN NEW; END $$;
            CREATE \(trigger) EXECUTE FUNCTION break_session()
            """
        )
    }

    private func expectOnce(_ world: TestLedger, _ holder: LeaseHolder) async throws {
        #expect(try await world.count("transactions") == 20)
        #expect(
            try await world.rows("SELECT page_seq, page_count, rows_new, cursor FROM crawl_items") == ["(1,1,22,C1)"]
        )
        #expect(try await world.value("SELECT sum(seen_count) FROM rejected_records") == "1")
        let summary = try await world.ledger.summary(of: holder.run, app: world.app, job: holder.job)
        #expect(summary.pages == 1 && summary.rowsNew == 22 && summary.requests == 2)
    }

    @Test(arguments: [
        "TRIGGER b BEFORE INSERT ON transactions FOR EACH STATEMENT",
        "TRIGGER b AFTER INSERT ON notifications FOR EACH ROW",
        "TRIGGER b BEFORE UPDATE OF page_seq ON crawl_items FOR EACH ROW",
        "CONSTRAINT TRIGGER b AFTER UPDATE ON crawl_items DEFERRABLE INITIALLY DEFERRED FOR EACH ROW",
    ])
    func `D08 D09 a session lost anywhere in a page, COMMIT included, ends with the page exactly once`(
        _ trigger: String
    )
        async throws
    {
        let world = try await TestLedger(sessions: 1)
        let (items, holder) = try await world.leased(["1"])
        try await breakSessions(world, times: 1, trigger)
        let page = world.page(Rows.fullPage(), of: items[0], for: holder, requests: 2)
        #expect(try await world.ledger.commit(page) == RowCounts(new: 22, newlyRejected: ["signature"]))
        try await expectOnce(world, holder)
    }

    /// The answer to COMMIT never arrives although the page is stored: between libpq and the server a relay cuts the
    /// line.
    @Test func `D09 a page whose COMMIT took place but was never answered is not written twice`() async throws {
        let world = try await TestLedger(sessions: 1)
        let (items, holder) = try await world.leased(["1"])
        let page = world.page(Rows.fullPage(), of: items[0], for: holder, requests: 2)
        let relay = try CommitCuttingRelay(to: try TemporaryDatabase.conninfo)
        defer { relay.stop() }
        let ledger = Ledger(
            conninfo: ConnectionString(relay.conninfo),
            schema: "appstore",
            sessions: 1,
            deadline: .seconds(20)
        )
        #expect(try await ledger.commit(page) == RowCounts(new: 22, newlyRejected: ["signature"]))
        #expect(relay.cuts == 1)
        try await expectOnce(world, holder)
    }

    /// What the server may say although nothing is wrong with the page; each ends the transaction.
    @Test(arguments: ["40001", "40P01", "55P03", "57014", "57P01", "57P02", "25P03", "25006"])
    func `D07 D08 D16 D29 a transaction the server ends four times is begun a fifth`(state: String) async throws {
        let world = try await TestLedger(sessions: 1)
        let (items, holder) = try await world.leased(["1"])
        try await refusals(world, of: 4, with: state)
        let page = world.page(Rows.fullPage(), of: items[0], for: holder, requests: 2)
        #expect(try await world.ledger.commit(page) == RowCounts(new: 22, newlyRejected: ["signature"]))
        #expect(try await world.value("SELECT last_value FROM refusals") == "5")
        try await expectOnce(world, holder)
    }

    @Test func `D07 a transaction the server ends five times is given up, and leaves nothing`() async throws {
        let world = try await TestLedger(sessions: 1)
        let (items, holder) = try await world.leased(["1"])
        try await refusals(world, of: 5, with: "40P01")
        let page = world.page(Rows.fullPage(), of: items[0], for: holder)
        let error = await #expect(throws: PostgresError.self) { _ = try await world.ledger.commit(page) }
        #expect(error?.state == .deadlockDetected)
        #expect(try await world.count("transactions") == 0)
        #expect(try await world.value("SELECT page_seq FROM crawl_items") == "0")
    }

    /// The server refuses the first statements that insert a notification.
    private func refusals(_ world: TestLedger, of times: Int, with state: String) async throws {
        try await world.run(
            """
            CREATE SEQUENCE refusals;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('refusals') <= \(times) THEN RAISE EXCEPTION 'as scripted' USING ERRCODE = '\(state)'; END IF;
                RETURN NULL; END $$;
            CREATE TRIGGER r AFTER INSERT ON notifications FOR EACH STATEMENT EXECUTE FUNCTION refuse()
            """
        )
    }

    @Test func `a page that cannot be committed says why, and leaves nothing`() async throws {
        let world = try await TestLedger(sessions: 1)
        let (items, holder) = try await world.leased(["1"])
        try await breakSessions(world, times: 100, "TRIGGER b BEFORE INSERT ON notifications FOR EACH ROW")
        let page = world.page(Rows.fullPage(), of: items[0], for: holder)
        let error = await #expect(throws: PostgresError.self) { _ = try await world.ledger.commit(page) }
        #expect(error?.isConnectionLoss == true)
        #expect(try await world.count("transactions") == 0)
        #expect(try await world.value("SELECT last_value FROM breaks") == "5")
    }
}
