import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Migrations
import Postgres
import StrictJSON
import TestSupport
import Testing

@testable import Actions

/// Which rows may be sent, and what happens to the others.
@Suite(.migratedDatabase)
struct RowQueueTests {
    /// A batch of answers to refund requests, in a separate ledger.
    private struct Scene {
        let actions: ActionLedger
        let queue: RowQueue

        /// - Parameters:
        ///   - rows: For each row its deadline as SQL, and whether an earlier request of it may have been applied.
        ///   - expires: When the approval expires, as SQL.
        ///   - section: The section of the action in the job file.
        /// - Throws: Errors of the ledger.
        init(
            _ rows: [(sendBy: String, mayBeApplied: Bool)],
            expires: String = "now() + interval '1 day'",
            job section: String = "{}"
        ) async throws {
            let ledger = Ledger(
                conninfo: ConnectionString(try TemporaryDatabase.conninfo),
                schema: "appstore",
                sessions: 1,
                deadline: .seconds(20)
            )
            let app = try await ledger.app(bundleId: "com.example.game", environment: "Production", appAppleId: 1)
            let input = section == "{}" ? "query: SELECT 1" : nil
            let job = try TestJob.of("sendConsumptionInformation: \(section)", input: input)
            let id = "00000000-0000-5000-8000-000000000001"
            let values = rows.enumerated().map { place, row in
                """
                (\(app.rawValue), '\(id)', \(place + 1), '{}', '{}', '\(place + 1)', 'valid', '\(row.mayBeApplied ? "confirming" : "approved")',
                 \(row.sendBy), \(row.mayBeApplied),
                 \(row.mayBeApplied ? "'\(id)'" : "NULL"), \(row.mayBeApplied ? "now()" : "NULL"))
                """
            }
            try await ledger.transaction { connection in
                try connection.script(
                    """
                    INSERT INTO action_rows (app_id, batch_id, position, input, parameters, subject, verdict, state, send_by, may_be_applied,
                        request_id, first_sent_at)
                    VALUES \(values.joined(separator: ", "));
                    INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                        rows_invalid, rows_ineligible, rows_duplicate, rows_same, approved_at, approved_rows, approval_expires_at)
                    VALUES (\(app.rawValue), '\(id)', '\(job.name)', 'sendConsumptionInformation', repeat('0', 64), 0, '{}', \(rows.count),
                        \(rows.count), 0, 0, 0, 0, now(), \(rows.count), \(expires));
                    """
                )
            }
            actions = ActionLedger(ledger: ledger, app: app, job: job)
            queue = RowQueue(actions, try #require(try await actions.batches().first))
        }

        func lease() async throws -> [LeasedRow] {
            guard case .rows(let rows) = try await queue.lease(atMost: 9) else { return [] }
            return rows
        }

        func passDeadline(of position: Int) async throws {
            let earlier = "UPDATE action_rows SET send_by = now() - interval '1 minute' WHERE position = \(position)"
            try await actions.ledger.transaction { try $0.script(earlier) }
        }

        func intend(_ row: LeasedRow, _ purpose: AttemptPurpose = .send) async throws {
            _ = try await queue.recordIntent(row, purpose, .get("/"), policy: nil)
        }

        func reasons(of file: ActionResultFile) async throws -> [String] {
            try await actions.ledger.transaction { connection in
                try actions.resultRows(of: file, in: queue.batch, after: 0, on: connection)
            }.map(\.reason)
        }
    }

    private static let open = (sendBy: "now() + interval '1 hour'", mayBeApplied: false)

    @Test func `no request leaves after the deadline, not even for a row that was leased in time`() async throws {
        let past = "timestamptz '2026-01-02 03:04Z'"
        let scene = try await Scene([Self.open, (past, false), (past, true), Self.open, ("NULL", false)])
        try await scene.queue.open()
        let rows = try await scene.lease()
        #expect(rows.map(\.isLate) == [false, true, true, false, false])
        for row in rows.dropFirst().prefix(2) {
            await #expect(throws: RowLeaseLost.self) { try await scene.intend(row) }
        }
        try await scene.passDeadline(of: 4)
        await #expect(throws: RowLeaseLost.self) { try await scene.intend(rows[3]) }
        try await scene.intend(rows[0])
        try await scene.intend(rows[4])
        // A request that only reads has no deadline.
        try await scene.intend(rows[2], .readBack)

        var states: [RowState?] = []
        for row in rows { states.append(try await scene.queue.giveUp(row)) }
        #expect(states == [nil, .cancelled, .unknown, .cancelled, nil])
        #expect(
            try await scene.reasons(of: .unprocessed).first
                == "not sent: Apple took the answer until 2026-01-02 03:04 UTC"
        )
        let status = try await scene.actions.status(of: scene.queue.batch)
        #expect(status.rowsTooLate == 2 && status.oldestUnknown?.position == 3)
        #expect(
            status.oldestUnknown?.message == "not sent again: Apple took the answer until 2026-01-02 03:04 UTC"
        )
    }

    @Test func `rows whose deadline has passed end even after the approval has expired, and the others stay`()
        async throws
    {
        let past = "now() - interval '1 minute'"
        let scene = try await Scene([Self.open, (past, false)], expires: past)
        try await scene.queue.open()
        let rows = try await scene.lease()
        #expect(rows.map(\.position) == [2])
        for row in rows { #expect(try await scene.queue.giveUp(row) == .cancelled) }
        guard case .drained = try await scene.queue.lease(atMost: 9) else {
            Issue.record("a row without an approval can be leased")
            return
        }
        #expect(try await scene.actions.states(of: scene.queue.batch) == ["approved": 1, "cancelled": 1])
    }

    /// What ends the approval of a batch, as SQL.
    private static let ends = [
        "SELECT end_approvals(1, 'extend', 'withdrawn')",
        "UPDATE action_batches SET approval_ended_because = 'policy changed'",
        "UPDATE action_batches SET approval_expires_at = now() - interval '1 second'",
        """
        INSERT INTO action_policy_approvals (app_id, job, action, policy_sha256, maximum_rows, expires_at)
        SELECT app_id, job, action, repeat('0', 64), 1, now() + interval '1 day' FROM action_batches
        """,
    ]

    @Test(arguments: ends)
    func
        `the intent of a leased row is refused after its approval has ended, and one that can have been sent is found out`(
            end: String
        ) async throws
    {
        let scene = try await Scene([Self.open, (Self.open.sendBy, true), Self.open])
        try await scene.queue.open()
        let rows = try await scene.lease()
        try await scene.intend(rows[2])
        try await scene.actions.ledger.transaction {
            try $0.script(end.replacing("'extend'", with: "'\(scene.actions.job.name)'"))
        }
        await #expect(throws: RowLeaseLost.self) { try await scene.intend(rows[0]) }
        try await scene.intend(rows[1], .repeating)
        await #expect(throws: RowLeaseLost.self) { try await scene.intend(rows[1]) }
        // Apple has not got the third request, so it is unsent again.
        let change = RowChange(result: RowChange.Result(message: "not sent"), state: .approved, mayBeApplied: false)
        try await scene.queue.record(change, of: rows[2], attempt: 1)
        await #expect(throws: RowLeaseLost.self) { try await scene.intend(rows[2]) }
        for row in rows { _ = try await scene.queue.giveUp(row) }
        let hasExpired = end.contains("expires_at = ")
        #expect(
            try await scene.actions.states(of: scene.queue.batch)
                == (hasExpired ? ["approved": 2, "unknown": 1] : ["cancelled": 2, "unknown": 1])
        )
        let unsent = "SELECT count(*) AS rows FROM action_rows WHERE first_sent_at IS NULL AND lease_owner IS NULL"
        let count = try await scene.actions.ledger.transaction { try $0.run(unsent)[0].int64("rows") }
        #expect(count == 2)
    }

    @Test func `the intent names the policy that the job file has now`() async throws {
        let answers = "{customerConsented: true, policy: [{answer: none}]}"
        let scene = try await Scene([Self.open], job: answers)
        let policy = String(repeating: "a", count: 64)
        try await scene.actions.ledger.transaction {
            try $0.script("UPDATE action_batches SET policy_sha256 = '\(policy)'")
        }
        let queue = RowQueue(scene.actions, try #require(try await scene.actions.batches().first))
        try await queue.open()
        guard case .rows(let rows) = try await queue.lease(atMost: 1) else { return }
        for other in [String(repeating: "b", count: 64), nil] {
            await #expect(throws: ActionRefusal.policyChanged(approved: policy, found: other ?? "none")) {
                _ = try await queue.recordIntent(rows[0], .send, .get("/"), policy: other)
            }
        }
        #expect(try await queue.recordIntent(rows[0], .send, .get("/"), policy: policy) == 1)
    }

    @Test func `a row whose lease has passed to another process is not ended by the first one`() async throws {
        let scene = try await Scene([("now() - interval '1 minute'", false)])
        try await scene.queue.open()
        let row = try #require(try await scene.lease().first)
        let other = RowQueue(scene.actions, scene.queue.batch)
        #expect(try await other.giveUp(row) == nil)
        #expect(try await scene.queue.giveUp(row) == .cancelled)
    }

    @Test func `only the SUMMARY notification of a request gives its counts`() async throws {
        let scene = try await Scene([Self.open])
        try await scene.queue.open()
        let row = try #require(try await scene.lease().first)
        func notify(_ subtype: String, _ request: String) async throws {
            let app = scene.actions.app.rawValue
            try await scene.actions.ledger.transaction { connection in
                try connection.script(
                    """
                    INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, summary_request_identifier,
                        summary_succeeded_count, summary_failed_count, signed_date, payload_sha256, payload)
                    VALUES (\(app), gen_random_uuid()::text, 'RENEWAL_EXTENSION', '\(subtype)', '\(request)', 40, 2,
                        timestamptz '2026-01-01 00:00Z', '', '{}')
                    """
                )
            }
        }
        try await notify("SUMMARY", "00000000-0000-5000-8000-000000000009")
        try await notify("FAILURE", UUIDText.text(of: row.requestID))
        #expect(try await scene.queue.summary(of: row) == nil)
        try await notify("SUMMARY", UUIDText.text(of: row.requestID))
        let summary = try #require(try await scene.queue.summary(of: row))
        #expect(summary["succeededCount"]?.number?.int64 == 40 && summary["failedCount"]?.number?.int64 == 2)
        #expect(summary["completeDate"]?.number?.int64 == 1_767_225_600_000)
    }
}

extension Trait where Self == TemporaryDatabase {
    /// A new database for each test, in which the schema `appstore` has every migration.
    static var migratedDatabase: Self { .temporaryDatabase(migrated) }
}

private let migrated = TemporaryDatabase.Template { conninfo in
    let ledger = Ledger(conninfo: ConnectionString(conninfo), schema: "appstore", sessions: 1, deadline: .seconds(20))
    _ = try await Migrator(ledger: ledger, directory: try SQLDirectory.find(executable: #filePath)).migrate()
}
