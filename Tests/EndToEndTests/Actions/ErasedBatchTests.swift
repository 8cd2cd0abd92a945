import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// A customer is erased in each stage of a batch: nothing of the customer is stored again, and nothing is sent.
@Suite(.migratedDatabase)
struct ErasedBatchTests {
    /// Where a plan waits while the customer is erased.
    enum Moment: CaseIterable {
        case inputRead, factsRead
    }

    private func erase(_ id: String, in scene: ActionScene) async throws {
        let outcome = try await scene.stage.storeledger("erase", scene.crawl, "--yes", "--transaction-id", id)
        try #require(outcome.code == 0, "\(outcome.errors)")
    }

    /// A subscription of another customer, and its account token.
    private func customer(otherThan ids: [String], in scene: ActionScene) async throws -> (id: String, token: String) {
        let found = try await scene.stage.book().column(
            """
            SELECT original_transaction_id || ' ' || app_account_token FROM transactions
             WHERE app_account_token IS NOT NULL AND in_app_ownership_type = 'PURCHASED'
               AND original_transaction_id <> ALL ('{\(ids.joined(separator: ","))}') LIMIT 1
            """
        )
        let words = try #require(found.first).split(separator: " ")
        return (String(words[0]), String(words[1]))
    }

    /// Expects that no table has a row with one of the texts.
    private func expectNowhere(
        _ texts: [String],
        _ scene: ActionScene,
        _ location: SourceLocation = #_sourceLocation
    )
        async throws
    {
        let book = try scene.stage.book()
        let needles = Needles(texts)
        let tables = try await book.column(
            "SELECT c.oid::regclass FROM pg_class c WHERE relnamespace = 'appstore'::regnamespace AND relkind IN ('r', 'p')"
        )
        for table in tables {
            let rows = try await book.column("SELECT t::text FROM \(table) t").joined(separator: "\n")
            #expect(needles.ids(in: rows) == [], "\(table)", sourceLocation: location)
        }
    }

    /// Starts a command that waits at the gate, runs `body`, and opens the gate.
    ///
    /// - Returns: The outcome of the command.
    private func atGate(
        _ moment: Moment,
        _ scene: ActionScene,
        _ arguments: [String],
        _ body: () async throws -> Void
    ) async throws -> Stage.Outcome {
        let book = try scene.stage.book()
        try await book.with { connection in
            try connection.script(
                """
                CREATE FUNCTION public.wait_at_gate() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
                BEGIN PERFORM pg_advisory_xact_lock_shared(36); RETURN true; END $$;
                CREATE FUNCTION public.stop_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM public.wait_at_gate(); RETURN NULL; END $$;
                """
            )
            if moment == .factsRead {
                try connection.script(
                    """
                    CREATE TRIGGER gate BEFORE INSERT ON action_rows FOR EACH STATEMENT EXECUTE FUNCTION public.stop_at_gate()
                    """
                )
            }
        }
        let gate = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        _ = try gate.run("SELECT pg_advisory_lock(36)")
        let environment = ["DATABASE_URL": scene.stage.databaseURL()]
        return try await scene.stage.withStoreledger(arguments, environment: environment) { process in
            let waiting = """
                SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            try await poll { try await book.count(waiting) > 0 || process.hasEnded }
            try #require(!process.hasEnded, "\(process.errors)")
            try await body()
            _ = try gate.run("SELECT pg_advisory_unlock(36)")
            let code = await process.wait()
            return Stage.Outcome(code: code, output: process.output, errors: process.errors)
        }
    }

    @Test func `ER1 a file that names an erased customer is planned without the customer and without the row's cells`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            let (other, token) = try await customer(otherThan: ids, in: scene)
            try await erase(ids[0], in: scene)
            try await erase(other, in: scene)
            try scene.list(
                [
                    "\(ids[0]),,alex@example.com", "\(ids[1]),,sam@example.com",
                    "\(ids[2]),\(token.uppercased()),kim@example.com",
                ],
                header: "original_transaction_id,account,email"
            )
            let path = try scene.write()
            let plan = try await scene.approve(path)
            #expect(plan.rows == 3 && plan.rowsToSend == 1)
            #expect(plan.rules.map(\.rule) == ["erased"] && plan.rules[0].rows == 2, "\(plan.rules)")
            #expect(plan.rules[0].verdict == "ineligible" && plan.rules[0].example == "the customer was erased")
            try await expectNowhere([ids[0], token, "alex@example.com", "kim@example.com"], scene)
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(3)
            #expect(try await scene.applied().compactMap(\.transactionId) == [ids[1]])
        }
    }

    @Test func `ER8 an approved row that names the erased customer in another cell is cleared, and not sent`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            let (other, token) = try await customer(otherThan: ids, in: scene)
            try scene.list(
                [
                    "\(ids[0]),,alex@example.com", "\(ids[1]),\(token.uppercased()),kim@example.com",
                    "\(ids[2]),like \(other),sam@example.com",
                ],
                header: "original_transaction_id,account,email"
            )
            let path = try scene.write()
            try await scene.approve(path)
            try await erase(other, in: scene)
            try await expectNowhere([other, token, "kim@example.com", "sam@example.com"], scene)
            _ = try await scene.send(path)
            #expect(try await scene.applied().compactMap(\.transactionId) == [ids[0]])
        }
    }

    @Test(arguments: Moment.allCases)
    func `ER2 a plan in progress does not bring an erased customer back`(moment: Moment) async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            try await scene.stage.book().change(
                "CREATE TABLE public.affected AS SELECT unnest('{\(ids.joined(separator: ","))}'::text[]) AS id"
            )
            var job = ActionScene.Job()
            job.input = """
                query: SELECT id AS original_transaction_id FROM public.affected \
                \(moment == .inputRead ? "WHERE public.wait_at_gate()" : "")
                """
            let path = try scene.write(job)
            let planned = try await atGate(moment, scene, ["actions", "plan", path, "--json"]) {
                try await erase(ids[0], in: scene)
            }
            #expect(planned.code == 0, "\(planned.errors)")
            let plan = try JSONDecoder().decode(ActionScene.Plan.self, from: Data(planned.output.utf8))
            #expect(plan.rows == 3 && plan.rowsToSend == 2 && plan.rules.map(\.rule) == ["erased"], "\(planned.output)")
            try await scene.stage.book().change("DROP TABLE public.affected")
            try await expectNowhere([ids[0]], scene)
            #expect(try await scene.approve(path, plan.batch, 2).code == 0)
            _ = try await scene.send(path)
            #expect(try await scene.applied().compactMap(\.transactionId).sorted() == ids.dropFirst().sorted())
        }
    }

    @Test func `ER3 a plan of a policy in progress does not bring an erased customer back`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 30)
            try await scene.stage.run(scene.crawl)
            let book = try scene.stage.book()
            let path = try scene.write(ConsumptionPolicyTests.job())
            let before = try await scene.plan(path)
            let ids = try await book.column(
                "SELECT subject FROM action_rows WHERE verdict = 'valid' ORDER BY position LIMIT 1"
            )
            // An erasure waits for a plan that replaces an earlier one with rows of the customer.
            try await book.change("DELETE FROM action_rows")
            try await book.change("DELETE FROM action_batches")
            let planned = try await atGate(.factsRead, scene, ["actions", "plan", path, "--json"]) {
                try await erase(ids[0], in: scene)
            }
            #expect(planned.code == 0, "\(planned.errors)")
            let plan = try JSONDecoder().decode(ActionScene.Plan.self, from: Data(planned.output.utf8))
            #expect(plan.rowsToSend < before.rowsToSend)
            try await expectNowhere([ids[0]], scene)
        }
    }

    @Test func `ER4 a rejected row of an erased customer is not planned again`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            try scene.list(ids)
            let path = try scene.write()
            try await scene.approve(path)
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "extendRenewalDate", "fault": "status", "status": 403, "errorCode": 4030004}]}"#
            )
            _ = try await scene.send(path, expecting: 2)
            try await erase(ids[0], in: scene)
            let plan = try await scene.retry(path)
            #expect(plan.rows == 2 && plan.rowsToSend == 2)
            try await expectNowhere([ids[0]], scene)
        }
    }

    @Test(arguments: ["intentCommitted@1", "writeAnswered@1"])
    func
        `ER5 a row whose customer is erased after a kill stays unknown, is not sent again, and does not keep its batch open`(
            point: String
        ) async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(1)
            try scene.list(ids)
            let path = try scene.write()
            try await scene.approve(path)
            #expect(try await scene.kill(path, at: point))
            try await erase(ids[0], in: scene)
            let before = try await scene.applied()
            _ = try await scene.send(path, expecting: 2)
            #expect(try await scene.applied().map(\.requested) == before.map(\.requested))
            let book = try scene.stage.book()
            #expect(
                try await book.column(
                    "SELECT r.state || ' ' || (b.finished_at IS NOT NULL) FROM action_rows r JOIN action_batches b USING (batch_id)"
                ) == ["unknown true"]
            )
            #expect(try scene.results("unknown")[1]?["original_transaction_id"] == "")
            try await expectNowhere(ids, scene)
            // A later batch ends with 0: the row has nothing that could be sent or read back.
            let next = try await scene.extensible(1)
            try scene.list(next)
            try await scene.approve(path)
            _ = try await scene.send(path)
        }
    }

    @Test func `ER6 a row whose customer is erased while it waits behind a 429 is not sent again`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(2)
            try scene.list(ids)
            var job = ActionScene.Job()
            job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 1")
            let path = try scene.write(job)
            try await scene.approve(path)
            let book = try scene.stage.book()
            let outcome = try await scene.interrupt(path) { try await erase(ids[0], in: scene) }
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
            let applied = try await scene.applied()
            #expect(applied.compactMap(\.transactionId) == [ids[1]], "\(applied)")
            #expect(
                try await book.column("SELECT state FROM action_rows ORDER BY position") == ["cancelled", "succeeded"]
            )
            try await expectNowhere([ids[0]], scene)
        }
    }
}
