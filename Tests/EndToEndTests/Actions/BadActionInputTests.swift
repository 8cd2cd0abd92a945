import FoundationEssentials
import Postgres
import TestSupport
import Testing

extension ActionScene {
    /// A moment of the only batch, as messages show it.
    fileprivate func moment(_ column: String) async throws -> String {
        try await stage.book().column(
            """
            SELECT to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM action_batches
            """
        )[0]
    }
}

/// Every bad input of a batch, with its message.
@Suite(.migratedDatabase)
struct BadActionInputTests {
    private func plan(_ scene: ActionScene, _ path: String) async throws -> Stage.Outcome {
        try await scene.stage.storeledger("actions", "plan", path)
    }

    @Test func `AI1 AI2 AI6 a missing column, a misspelt one, an empty file and a missing file plan nothing`()
        async throws
    {
        try await ActionScene.with(.init(customers: 5)) { scene in
            let path = try scene.write()
            let file = scene.stage.store.directory + "/affected.csv"
            try scene.list(["1"], header: "transaction_id")
            var outcome = try await plan(scene, path)
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: \(file): there is no column \"original_transaction_id\"; the header has \"transaction_id\". Nothing was planned"
                ]
            )
            try scene.list(["1,2"], header: "original_transaction_id,extend_by_day")
            outcome = try await plan(scene, path)
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: \(file): the column \"extend_by_day\" does not belong to this action; did you mean \"extend_by_days\"? Nothing was planned"
                ]
            )
            try scene.list([])
            outcome = try await plan(scene, path)
            #expect(outcome.code == 65)
            #expect(outcome.errorLines == ["storeledger: \(file): there are no rows. Nothing was planned"])
            try scene.stage.write("", to: "affected.csv")
            outcome = try await plan(scene, path)
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: \(file): the file is empty; it must have a header or at least one row. Nothing was planned"
                ]
            )
            try FileManager.default.removeItem(atPath: file)
            outcome = try await plan(scene, path)
            #expect(outcome.code == 66)
            #expect(outcome.errorLines == ["storeledger: \(file): there is no such file. Nothing was planned"])
            #expect(try await scene.stage.book().count("SELECT count(*) FROM action_batches") == 0)
        }
    }

    @Test func `AI3 AI5 AI12 bad rows are sorted out with their rule and never affect the good ones`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            let book = try scene.stage.book()
            try await book.change(
                """
                INSERT INTO apps (bundle_id, environment) VALUES ('com.example.other', 'Production');
                """
            )
            try await book.change(
                """
                INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
                SELECT app_id, '990000000000001', '990000000000001', now(), '', '{}' FROM apps WHERE bundle_id = 'com.example.other'
                """
            )
            try scene.list(
                [
                    "\(ids[0]),7,3", "\(ids[1]),91,3", "\(ids[1]),,4", "12x,7,3", ",7,3", "\(ids[0]),14,3",
                    "990000000000001,7,3", "99,7,3", "\(ids[2]),,", "\(ids[1]),7,3,surplus",
                ],
                header: "original_transaction_id,extend_by_days,extend_reason_code"
            )
            let path = try scene.write()
            try await scene.approve(path)
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(10)
            #expect(try scene.results("succeeded").keys.sorted() == [1, 9])
            let reasons = try scene.results("unprocessed").mapValues { $0["outcome_reason"] ?? "" }
            #expect(
                reasons == [
                    2: "invalid: extend_by_days is 91; it must be a whole number from 1 to 90",
                    3: "invalid: extend_reason_code is 4; it must be a whole number from 0 to 3",
                    4: "invalid: original_transaction_id is 12x; it must be a transaction ID: one to twenty digits",
                    5: "invalid: original_transaction_id is missing; it must be a transaction ID: one to twenty digits",
                    6: "duplicate: row 1 has the same original_transaction_id",
                    7: "ineligible: 990000000000001 belongs to com.example.other (Production)",
                    8: "ineligible: the ledger has no record of 99; run a crawl of it first",
                    10: "invalid: the row has 4 cells, the header has 3",
                ]
            )
        }
    }

    @Test func `AI4 a malformed UUID is an invalid row`() async throws {
        try await ActionScene.with(.init(customers: 20)) { scene in
            let ids = try await scene.extensible(1)
            try scene.list(["\(ids[0]),7e3fb20b-4cdb"], header: "original_transaction_id,app_account_token")
            var job = ActionScene.Job()
            job.name = "tokens"
            job.action = "setAppAccountToken: {}"
            let plan = try await scene.plan(try scene.write(job))
            let rule = "a UUID, such as 7e3fb20b-4cdb-47cc-936d-99d65f608138"
            #expect(plan.rowsToSend == 0)
            #expect(plan.rules.map(\.example) == ["app_account_token is 7e3fb20b-4cdb; it must be \(rule)"])
        }
    }

    @Test func `AI8 AI10 approve refuses a wrong hash, a wrong count, too many rows and a second approval`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try scene.list(try await scene.extensible(3))
            var job = ActionScene.Job()
            let path = try scene.write(job)
            let plan = try await scene.plan(path)
            func approve(_ hash: String, _ rows: Int) async throws -> Stage.Outcome {
                try await scene.approve(path, hash, rows)
            }
            let unknown = String(repeating: "0", count: 64)
            var outcome = try await approve(unknown, 3)
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: extend-after-outage has no batch \(unknown); storeledger actions status \(path) lists the hashes of its batches"
                ]
            )
            outcome = try await approve(plan.batch, 4)
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: --rows is 4, but 3 rows of the batch would be sent; nothing was approved. Read the plan again: storeledger actions status \(path)"
                ]
            )
            job.approval = "{maximumRows: 2}"
            try scene.write(job)
            outcome = try await approve(plan.batch, 3)
            #expect(outcome.code == 78)
            #expect(
                outcome.errorLines == [
                    "storeledger: the batch would send 3 rows, more than approval.maximumRows (2); split the input, or raise the limit in the job file"
                ]
            )
            job.approval = nil
            try scene.write(job)
            #expect(try await approve(plan.batch, 3).code == 0)
            outcome = try await approve(plan.batch, 3)
            #expect(outcome.code == 65)
            let role = try await scene.stage.book().column("SELECT approved_by FROM action_batches")[0]
            let moment = try await scene.moment("approved_at")
            #expect(
                outcome.errorLines == [
                    "storeledger: batch \(plan.batch) was already approved by \(role) at \(moment); nothing was changed"
                ]
            )
        }
    }

    @Test func `AI9 AI11 run sends nothing without a plan, without an approval, and after the approval has expired`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try scene.list(try await scene.extensible(3))
            let path = try scene.write()
            var outcome = try await scene.send(path, expecting: 78)
            #expect(
                outcome.errorLines.last
                    == "storeledger: extend-after-outage has no planned batch; run: storeledger actions plan \(path)"
            )
            let plan = try await scene.plan(path)
            outcome = try await scene.send(path, expecting: 78)
            #expect(
                outcome.errorLines.last
                    == "storeledger: batch \(plan.batch) is not approved; nothing was sent. Approve it: storeledger actions approve \(path) --batch \(plan.batch) --rows 3"
            )
            try await scene.approve(path)
            try await scene.expireApprovals()
            let expired = try await scene.moment("approval_expires_at")
            outcome = try await scene.send(path, expecting: 78)
            #expect(
                outcome.errorLines.last
                    == "storeledger: the approval of batch \(plan.batch) expired at \(expired), so its remaining rows are not sent. Plan them again: storeledger actions plan \(path)"
            )
            #expect(try await scene.applied().isEmpty)
            // Rows that were never sent are no part of an earlier batch.
            #expect(try await scene.plan(path).rowsToSend == 3)
        }
    }

    @Test func `AI7 a file that changes after the plan does not change the batch, and approve and run say so`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(4)
            try scene.list(Array(ids.prefix(3)))
            let path = try scene.write()
            let plan = try await scene.plan(path)
            try scene.list(ids)
            let approved = try await scene.approve(path, plan.batch, 3)
            let sentence =
                "\(scene.stage.store.directory)/affected.csv has changed since the batch was planned. The batch stays as it was planned"
            #expect(approved.code == 0 && approved.errorLines == ["storeledger: \(sentence)"], "\(approved)")
            let sent = try await scene.send(path)
            #expect(sent.errorLines.contains { $0 == sentence }, "\(sent.errors)")
            #expect(try await scene.applied().compactMap(\.transactionId).sorted() == Array(ids.prefix(3)))
            let again = try await scene.plan(path)
            #expect(again.rowsToSend == 1)
            #expect(again.rules.map(\.rule) == ["same_as_batch"] && again.rules[0].rows == 3)
            #expect(again.rules[0].example == "same as batch \(plan.batch)")
        }
    }

    @Test(arguments: [
        "UPDATE action_rows SET parameters = jsonb_set(parameters, '{extend_by_days}', '90') WHERE position = 2",
        "DELETE FROM action_rows WHERE position = 3",
        // The owner of the table can do it.
        """
        ALTER TABLE action_rows DISABLE TRIGGER refuse_late_rows;
        INSERT INTO action_rows (app_id, batch_id, position, input, parameters, subject, verdict, state)
        SELECT app_id, batch_id, 4, input, parameters, subject, verdict, state FROM action_rows WHERE position = 1;
        ALTER TABLE action_rows ENABLE TRIGGER refuse_late_rows
        """,
    ])
    func `AI13 no row of a batch is sent after one was changed, removed or added behind the approval`(change: String)
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try scene.list(try await scene.extensible(3))
            let path = try scene.write()
            let plan = try await scene.approve(path)
            try await scene.stage.book().with { try $0.script(change) }
            let outcome = try await scene.send(path, expecting: 78)
            let line = try #require(outcome.errorLines.last)
            let beginning =
                "storeledger: the rows of batch \(plan.batch) were changed after the plan: their SHA-256 is now "
            let remedy =
                ". No row of the batch was sent. Find out who changed them, and plan them again: storeledger actions plan \(path)"
            #expect(line.hasPrefix(beginning) && line.hasSuffix(remedy), "\(line)")
            #expect(line.dropFirst(beginning.count).prefix { $0.isHexDigit }.count == 64)
            #expect(try await scene.applied().isEmpty)
        }
    }

    @Test func `run refuses a job with an action, and actions refuse a job with streams`() async throws {
        try await ActionScene.with(.init(customers: 5)) { scene in
            let path = try scene.write()
            let run = try await scene.stage.storeledger("run", path)
            #expect(run.code == 78)
            #expect(run.errors.contains("use storeledger actions run \(path)"), "\(run.errors)")
            let actions = try await scene.stage.storeledger("actions", "run", scene.crawl)
            #expect(actions.code == 78)
            #expect(actions.errors.contains("storeledger run \(scene.crawl) runs this one"), "\(actions.errors)")
            let validation = try await scene.stage.storeledger("validate", path)
            #expect(validation.code == 0 && validation.output.contains("is valid: extendRenewalDate"))
        }
    }
}
