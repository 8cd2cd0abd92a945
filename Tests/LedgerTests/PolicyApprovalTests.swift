import Postgres
import TestSupport
import Testing

/// What the database itself makes sure of when a batch follows from the approval of a policy.
@Suite(.migratedDatabase)
struct PolicyApprovalTests {
    private static let policy = String(repeating: "a", count: 64)

    /// A batch of `rows` rows under a policy.
    private func plan(_ number: Int, rows: Int, policy: String = Self.policy, on book: LedgerBook) async throws {
        try await book.change(
            """
            INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                                        rows_invalid, rows_ineligible, rows_duplicate, rows_same, policy_sha256)
            VALUES (1, '\(id(number))', 'answers', 'sendConsumptionInformation', '\(Self.policy)', \(number), '{}', \(rows), \(rows), 0, 0, 0, 0,
                    '\(policy)')
            """
        )
    }

    private func id(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    private func isApproved(_ number: Int, on book: LedgerBook) async throws -> Bool {
        try await book.column("SELECT approve_by_policy(1, '\(id(number))', interval '12 hours')") == ["true"]
    }

    private func approve(
        _ policy: String = Self.policy,
        rows: Int = 5,
        expires: String = "30 days",
        on book: LedgerBook
    )
        async throws
    {
        try await book.change(
            """
            INSERT INTO action_policy_approvals (app_id, job, action, policy_sha256, maximum_rows, approved_at, expires_at)
            VALUES (1, 'answers', 'sendConsumptionInformation', '\(policy)', \(rows), now() - interval '1 year', now() + interval '\(expires)')
            """
        )
    }

    private func withBook(_ body: (LedgerBook) async throws -> Void) async throws {
        let book = LedgerBook(pool: try TemporaryDatabase.pool(size: 1), schema: "appstore")
        try await book.change("INSERT INTO apps (bundle_id, environment) VALUES ('com.example.game', 'Production')")
        try await body(book)
    }

    @Test func `a batch is approved by the newest approval of its policy, as far as its rows and its time reach`()
        async throws
    {
        try await withBook { book in
            try await plan(1, rows: 3, on: book)
            #expect(try await !isApproved(1, on: book), "no approval")
            try await approve(on: book)
            try await approve(String(repeating: "b", count: 64), on: book)
            #expect(try await !isApproved(1, on: book), "the newest is of another policy")
            try await approve(expires: "-1 hour", on: book)
            #expect(try await !isApproved(1, on: book), "expired")
            try await approve(on: book)
            #expect(try await isApproved(1, on: book))
            #expect(try await !isApproved(1, on: book), "approved already")
            try await plan(2, rows: 3, on: book)
            #expect(try await !isApproved(2, on: book), "two rows are left")
            try await plan(3, rows: 2, on: book)
            #expect(try await isApproved(3, on: book))
            try await plan(4, rows: 1, on: book)
            #expect(try await !isApproved(4, on: book), "none is left")
            // A new approval begins at none, and ends before the term of a batch.
            try await approve(expires: "1 hour", on: book)
            #expect(try await isApproved(4, on: book))
            let approvals = """
                SELECT concat_ws(' ', b.occurrence, b.approved_rows, b.approved_by = p.approved_by, b.approval_expires_at > now() + interval '2 hours')
                  FROM action_batches b LEFT JOIN action_policy_approvals p USING (app_id) WHERE p.approval_id = b.policy_approval_id ORDER BY 1
                """
            #expect(try await book.column(approvals) == ["1 3 t t", "3 2 t t", "4 1 t f"])
        }
    }

    @Test func `a withdrawal is recorded once, and ends the approvals that follow from it and no other`() async throws {
        try await withBook { book in
            try await approve(on: book)
            try await plan(1, rows: 1, on: book)
            try await plan(2, rows: 1, on: book)
            #expect(try await isApproved(1, on: book))
            try await book.change(
                """
                UPDATE action_batches SET approved_rows = 1, approved_at = now(), approval_expires_at = now() + interval '1 day'
                 WHERE occurrence = 2
                """
            )
            let withdraw = "UPDATE action_policy_approvals SET withdrawn_at = 'epoch'"
            try await book.change(withdraw)
            await #expect(throws: PostgresError.self) { try await book.change(withdraw) }
            let state =
                "SELECT withdrawn_by = session_user AND withdrawn_at > now() - interval '1 hour' FROM action_policy_approvals"
            #expect(try await book.column(state) == ["true"])
            let expired = "SELECT approval_expires_at <= clock_timestamp() FROM action_batches ORDER BY occurrence"
            #expect(try await book.column(expired) == ["true", "false"])
            try await plan(3, rows: 1, on: book)
            #expect(try await !isApproved(3, on: book))
        }
    }

    @Test func `an approval can be made shorter, and never longer or different`() async throws {
        try await withBook { book in
            try await approve(on: book)
            try await plan(1, rows: 1, on: book)
            #expect(try await isApproved(1, on: book))
            func set(_ change: String) async throws { try await book.change("UPDATE action_batches SET \(change)") }
            try await set("approval_expires_at = approval_expires_at - interval '1 hour'")
            for change in [
                "approval_expires_at = approval_expires_at + interval '1 minute'", "approved_rows = 2",
                "approval_expires_at = approval_expires_at - interval '1 hour', approved_rows = 2",
                "approval_expires_at = approval_expires_at - interval '1 hour', approved_by = 'x'",
                "approved_at = now()",
            ] {
                await #expect(throws: PostgresError.self, "\(change)") { try await set(change) }
            }
        }
    }

    @Test func `a job that is removed loses the approval of its policy`() async throws {
        try await withBook { book in
            try await approve(on: book)
            #expect(try await book.column("SELECT forget_actions(1, 'answers')") == ["removed"])
            #expect(try await book.column("SELECT forget_actions(1, 'answers')") == ["unknown"])
            try await plan(1, rows: 1, on: book)
            #expect(try await !isApproved(1, on: book))
        }
    }
}
