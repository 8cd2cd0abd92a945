import Postgres
import TestSupport
import Testing

/// What the database itself makes sure of when a batch follows from the approval of a policy.
@Suite(.migratedDatabase)
struct PolicyApprovalTests {
    private static let policy = String(repeating: "a", count: 64)

    /// The rules with that hash: one answer for consumables, and another one for everything else.
    private static let rules = """
        {"customerConsented": true, "policy": [
            {"when": {"productTypes": ["CONSUMABLE"]}, "answer": {"delivery_status": "DELIVERED", "refund_preference": "GRANT_FULL"}},
            {"when": {}, "answer": {"delivery_status": "DELIVERED", "refund_preference": "DECLINE"}}]}
        """

    /// A batch of `rows` rows under a policy, each the answer to a refund request.
    private func plan(_ number: Int, rows: Int, policy: String = Self.policy, on book: LedgerBook) async throws {
        let batch = Self.batch(number, rows: rows, policy: policy)
        try await book.with { connection in try connection.script(Self.rows(of: number, rows) + batch) }
    }

    /// The statement that inserts a batch.
    private static func batch(_ number: Int, rows: Int, policy: String = Self.policy) -> String {
        """
        INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                                    rows_invalid, rows_ineligible, rows_duplicate, rows_same, policy_sha256)
        VALUES (1, '\(id(number))', 'answers', 'sendConsumptionInformation', '\(Self.policy)', \(number), '{}', \(rows), \(rows), 0, 0, 0, 0,
                '\(policy)');
        """
    }

    /// The statement that inserts the rows of a batch: answers to the requests from `number` times 10 on.
    private static func rows(of number: Int, _ rows: Int, position: Int = 0) -> String {
        """
        INSERT INTO action_rows (app_id, batch_id, position, input, parameters, subject, verdict, state, send_by)
        SELECT 1, '\(id(number))', n.signed_date_rank + \(position), '{}', jsonb_build_object('transaction_id', n.transaction_id, 'customer_consented', true,
               'delivery_status', 'DELIVERED', 'refund_preference', 'GRANT_FULL'), n.transaction_id, 'valid', 'planned',
               n.signed_date + interval '12 hours'
          FROM (SELECT n.*, row_number() OVER (ORDER BY transaction_id) AS signed_date_rank FROM notifications n
                 WHERE transaction_id >= '\(number * 10)' ORDER BY transaction_id LIMIT \(rows)) n;
        """
    }

    private static func id(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    private func isApproved(_ number: Int, on book: LedgerBook) async throws -> Bool {
        try await book.column("SELECT approve_by_policy(1, '\(Self.id(number))', interval '12 hours')") == ["true"]
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
            INSERT INTO action_policy_approvals (app_id, job, action, policy_sha256, policy, maximum_rows, approved_at, expires_at)
            VALUES (1, 'answers', 'sendConsumptionInformation', '\(policy)', '\(Self.rules)', \(rows), now() - interval '1 year', now() + interval '\(expires)')
            """
        )
    }

    private func withBook(_ body: (LedgerBook) async throws -> Void) async throws {
        let book = LedgerBook(pool: try TemporaryDatabase.pool(size: 1), schema: "appstore")
        try await book.change("INSERT INTO apps (bundle_id, environment) VALUES ('com.example.game', 'Production')")
        try await book.change(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, type, signed_date, purchase_date, payload_sha256, payload)
            SELECT 1, n, n, CASE WHEN n < 70 THEN 'Consumable' ELSE 'Non-Consumable' END, now(), now() - interval '1 day', '', '{}'
              FROM generate_series(10, 79) n
            """
        )
        try await book.change(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, signed_date, payload_sha256, payload)
            SELECT 1, n, 'CONSUMPTION_REQUEST', n, now() - interval '1 hour', '', '{}' FROM generate_series(10, 79) n
            """
        )
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

    @Test(arguments: [
        // The request of another purchase, or of none.
        "subject = '99', parameters = parameters || '{\"transaction_id\": \"99\"}'",
        "subject = '21'", "parameters = parameters || '{\"transaction_id\": \"21\"}'",
        // The answer of the other rule, more than an answer, or none.
        "parameters = parameters || '{\"refund_preference\": \"DECLINE\"}'",
        "parameters = parameters || '{\"consumption_percentage\": 100000}'",
        "parameters = parameters || '{\"customer_consented\": false}'", "parameters = parameters - 'delivery_status'",
        "parameters = NULL",
        // After Apple's deadline, or as if it was sent.
        "send_by = NULL", "send_by = send_by + interval '1 second'", "state = 'approved'",
        "state = 'sending', request_id = gen_random_uuid(), may_be_applied = true, first_sent_at = now()",
    ])
    func `RP18 rows that do not follow from the policy are not approved, whoever wrote them`(change: String)
        async throws
    {
        try await withBook { book in
            try await approve(on: book)
            try await plan(1, rows: 2, on: book)
            try await book.change("UPDATE action_rows SET \(change) WHERE position = 2")
            #expect(try await !isApproved(1, on: book))
            try await plan(3, rows: 2, on: book)
            #expect(try await isApproved(3, on: book), "the same rows, unchanged")
        }
    }

    @Test func `RP18 the actor cannot have other requests or answers approved, nor add rows to an approved batch`()
        async throws
    {
        try await withBook { book in
            try await approve(rows: 50, on: book)
            try await LedgerRoles.with { roles in
                let actor = try PostgresConnection(conninfo: roles.conninfo("actor"))
                try actor.script("SET search_path = appstore, pg_temp")
                func isApproved(_ number: Int, _ rows: String) throws -> Bool {
                    try actor.script(rows)
                    return try actor.run(
                        "SELECT approve_by_policy(1, '\(Self.id(number))', interval '1 hour') AS is_approved"
                    )[0].bool("is_approved")
                }
                #expect(try isApproved(1, Self.rows(of: 1, 3) + Self.batch(1, rows: 3)))
                // More rows than the batch says.
                #expect(try !isApproved(2, Self.rows(of: 2, 3) + Self.batch(2, rows: 1)))
                // A request that has an answer.
                try await book.change(
                    "UPDATE action_rows SET state = 'succeeded', first_sent_at = now() WHERE subject = '11'"
                )
                #expect(
                    try !isApproved(
                        4,
                        Self.rows(of: 1, 3).replacing(Self.id(1), with: Self.id(4)) + Self.batch(4, rows: 3)
                    )
                )
                // The second rule decides on these, and gives another answer.
                #expect(try !isApproved(7, Self.rows(of: 7, 1) + Self.batch(7, rows: 1)))
                #expect(throws: PostgresError.self) {
                    try actor.script(Self.rows(of: 5, 1, position: 10).replacing(Self.id(5), with: Self.id(1)))
                }
                // Who wrote the rows is recorded.
                #expect(
                    try await book.column(
                        "SELECT DISTINCT planned_by || ' ' || (approved_by IS NULL) FROM action_batches WHERE occurrence <> 1"
                    )
                        == ["\(roles.name("actor")) true"]
                )
            }
        }
    }

    @Test func `an approval of an earlier version, which does not have the rules, approves nothing`() async throws {
        try await withBook { book in
            try await approve(on: book)
            try await book.change("UPDATE action_policy_approvals SET policy = NULL")
            try await plan(1, rows: 1, on: book)
            #expect(try await !isApproved(1, on: book))
        }
    }

    /// The cause with which each batch's approval ended, by occurrence.
    private func ends(on book: LedgerBook) async throws -> [String] {
        try await book.column(
            """
            SELECT concat_ws(' ', approval_ended_because, approval_ended_by = session_user, approval_ended_at > now() - interval '1 hour')
              FROM action_batches ORDER BY occurrence
            """
        )
    }

    @Test func `a withdrawal is recorded once, and ends the approvals of all batches of the job`() async throws {
        try await withBook { book in
            try await approve(on: book)
            try await plan(1, rows: 1, on: book)
            try await plan(2, rows: 1, on: book)
            try await plan(3, rows: 1, on: book)
            try await book.change(
                """
                UPDATE action_batches SET approved_rows = 1, approved_at = now(), approval_expires_at = now() + interval '1 day'
                 WHERE occurrence = 2
                """
            )
            #expect(try await isApproved(1, on: book))
            let withdraw = "UPDATE action_policy_approvals SET withdrawn_at = 'epoch'"
            try await book.change(withdraw)
            await #expect(throws: PostgresError.self) { try await book.change(withdraw) }
            let state =
                "SELECT withdrawn_by = session_user AND withdrawn_at > now() - interval '1 hour' FROM action_policy_approvals"
            #expect(try await book.column(state) == ["true"])
            // The third one is only planned.
            #expect(try await ends(on: book) == ["withdrawn t t", "withdrawn t t", ""])
            #expect(try await !isApproved(3, on: book))
            await #expect(throws: PostgresError.self, "it ends once") {
                try await book.change(
                    "UPDATE action_batches SET approval_ended_because = 'expired' WHERE occurrence = 1"
                )
            }
        }
    }

    @Test
    func
        `a newer approval of a batch or policy ends the approvals of the job's older batches, and no derived one does`()
        async throws
    {
        try await withBook { book in
            func approve(batch: Int) async throws {
                try await plan(batch, rows: 1, on: book)
                try await book.change(
                    """
                    UPDATE action_batches SET approved_rows = 1, approved_at = now(), approval_expires_at = now() + interval '1 day'
                     WHERE occurrence = \(batch)
                    """
                )
            }
            try await approve(batch: 1)
            #expect(try await ends(on: book) == [""])
            try await approve(batch: 2)
            #expect(try await ends(on: book) == ["superseded t t", ""])
            try await self.approve(on: book)
            #expect(try await ends(on: book) == ["superseded t t", "superseded t t"])
            for batch in [3, 4] {
                try await plan(batch, rows: 1, on: book)
                #expect(try await isApproved(batch, on: book))
            }
            #expect(try await ends(on: book).suffix(2) == ["", ""])
            try await approve(batch: 5)
            #expect(try await ends(on: book) == Array(repeating: "superseded t t", count: 4) + [""])
        }
    }

    @Test func `two batches cannot both have an answer to one refund request that can leave`() async throws {
        try await withBook { book in
            func row(_ batch: Int, _ values: String) async throws {
                try await book.change(
                    """
                    INSERT INTO action_rows (app_id, batch_id, position, input, subject, verdict, state, send_by, may_be_applied, request_id,
                                             first_sent_at, ended_at)
                    SELECT 1, '\(Self.id(batch))', 9, '{}', '7', 'valid', \(values)
                    """
                )
            }
            let unsent = "'approved', now() + interval '1 hour', false, NULL, NULL, NULL"
            for (batch, values) in [
                (1, "'planned', now() + interval '1 hour', false, NULL, NULL, NULL"),
                (2, "'succeeded', now() + interval '1 hour', false, NULL, now(), now()"),
                (3, "'cancelled', now() + interval '1 hour', false, NULL, NULL, now()"),
                (4, "'unknown', now() - interval '1 hour', true, gen_random_uuid(), now(), now()"),
                (5, "'confirming', now() + interval '1 hour', true, gen_random_uuid(), now(), NULL"),
            ] {
                try await plan(batch, rows: 1, on: book)
                try await row(batch, values)
            }
            try await plan(6, rows: 1, on: book)
            await #expect(throws: PostgresError.self) { try await row(6, unsent) }
            try await book.change(
                "UPDATE action_rows SET state = 'succeeded', may_be_applied = false WHERE state = 'confirming'"
            )
            try await row(6, unsent)
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
