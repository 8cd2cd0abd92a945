import AppStoreModel
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Actions

/// Two batches with reports of one token.
@Suite(.migratedDatabase)
struct OneReportTests {
    /// Adds an approved batch with one report, and leases it.
    private func queue(_ number: Int, in ledger: Ledger, _ app: AppID) async throws -> (queue: RowQueue, row: LeasedRow)
    {
        let job = try TestJob.of("reportExternalPurchases: {}", name: "job-\(number)")
        let id = "00000000-0000-5000-8000-00000000000\(number)"
        try await ledger.transaction { connection in
            try connection.script(
                """
                INSERT INTO action_rows (app_id, batch_id, position, input, parameters, subject, verdict, state)
                VALUES (\(app.rawValue), '\(id)', 1, '{}', '{"external_purchase_id": "t", "status": "NO_LINE_ITEM"}', 't', 'valid', 'approved');
                INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                    rows_invalid, rows_ineligible, rows_duplicate, rows_same, approved_at, approved_rows, approval_expires_at)
                VALUES (\(app.rawValue), '\(id)', '\(job.name)', 'reportExternalPurchases', repeat('\(number)', 64), 0, '{}', 1, 1, 0, 0, 0, 0,
                    now(), 1, now() + interval '1 day');
                """
            )
        }
        let actions = ActionLedger(ledger: ledger, app: app, job: job)
        let queue = RowQueue(actions, try #require(try await actions.batches().first))
        try await queue.open()
        guard case .rows(let rows) = try await queue.lease(atMost: 1), let row = rows.first else {
            throw LedgerError.invariant("nothing was leased")
        }
        return (queue, row)
    }

    @Test func `a report waits while another report of its token is at Apple, and reading does not wait`() async throws
    {
        let ledger = Ledger(
            conninfo: ConnectionString(try TemporaryDatabase.conninfo),
            schema: "appstore",
            sessions: 1,
            deadline: .seconds(20)
        )
        let app = try await ledger.app(bundleId: "com.example.game", environment: "Production", appAppleId: 1)
        let first = try await queue(1, in: ledger, app)
        let second = try await queue(2, in: ledger, app)
        func intend(_ report: (queue: RowQueue, row: LeasedRow), _ purpose: AttemptPurpose = .send) async throws
            -> Int32?
        {
            try await report.queue.recordIntent(report.row, purpose, .get("/"), policy: nil)
        }
        #expect(try await intend(first) == 1)
        #expect(try await intend(second) == nil)
        #expect(try await intend(second, .readBack) == 1)
        // The first report has its answer.
        var change = RowChange(result: RowChange.Result(status: 200), state: .succeeded, mayBeApplied: false)
        change.isEnd = true
        change.releases = true
        try await first.queue.record(change, of: first.row, attempt: 1)
        #expect(try await intend(second) == 2)
    }
}
