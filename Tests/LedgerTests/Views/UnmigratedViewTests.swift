import TestSupport
import Testing

/// What remains of a migration to Advanced Commerce, and why.
@Suite(.migratedDatabase)
struct UnmigratedViewTests {
    @Test func `unmigrated_subscriptions has every active subscription that remains, with the reason`() async throws {
        let world = try await TestLedger()
        let ids = ["mig", "old", "new", "out", "wait", "ref", "unk", "not", "can", "late", "again"]
        let bought = ids.map { id in
            let more = id == "mig" ? "advanced_commerce_request_reference_id=r" : ""
            let start = id == "new" ? "-1 hours" : "-9 days"
            return "\(id) | \(id) | plus | now \(start) | now +20 days | 9990 | \(more)"
        }
        try await world.buy(
            """
            \(bought.joined(separator: "\n"))
            fam  | fam  | plus | now -9 days  | now +20 days | 9990 | in_app_ownership_type=FAMILY_SHARED
            gone | gone | plus | now -40 days | now -10 days | 9990 |
            """
        )
        #expect(try await world.count("unmigrated_subscriptions") == 0, "no migration was planned")
        // The first plan had one subscription that the second has again, and one that it repeats.
        let batches = ["11111111-1111-5111-8111-111111111111", "22222222-2222-5222-8222-222222222222"]
        let planned = ["5 days", "1 days"]
        for (number, batch) in batches.enumerated() {
            try await world.run(
                """
                INSERT INTO action_batches (app_id, batch_id, job, action, rows_sha256, occurrence, input_columns, row_count, rows_to_send,
                       rows_invalid, rows_ineligible, rows_duplicate, rows_same, planned_at)
                VALUES (1, '\(batch)', 'migrate', 'migrateSubscription', repeat('\(number)', 64), 0, '{}', 1, 1, 0, 0, 0, 0,
                        now() - interval '\(planned[number])')
                """
            )
        }
        let rows: [(batch: Int, subject: String, verdict: String, state: String, rule: String, code: String)] = [
            (0, "ref", "valid", "rejected", "NULL", "4030008"), (0, "again", "ineligible", "skipped", "'x'", "NULL"),
            (0, "late", "valid", "succeeded", "NULL", "NULL"), (1, "mig", "valid", "succeeded", "NULL", "NULL"),
            (1, "out", "ineligible", "skipped", "'pending_change'", "NULL"),
            (1, "wait", "valid", "approved", "NULL", "NULL"), (1, "ref", "valid", "rejected", "NULL", "4030027"),
            (1, "unk", "valid", "unknown", "NULL", "NULL"), (1, "not", "valid", "not_applied", "NULL", "NULL"),
            (1, "can", "valid", "cancelled", "NULL", "NULL"), (1, "late", "same", "skipped", "'same_as_batch'", "NULL"),
            (1, "again", "valid", "planned", "NULL", "NULL"),
        ]
        for (position, row) in rows.enumerated() {
            try await world.run(
                """
                INSERT INTO action_rows (app_id, batch_id, position, input, subject, verdict, state, rule, apple_code)
                VALUES (1, '\(batches[row.batch])', \(position + 1), '{}', '\(row.subject)', '\(row.verdict)', '\(row.state)',
                        \(row.rule), \(row.code))
                """
            )
        }
        #expect(
            try await world.answer(
                "SELECT original_transaction_id AS id, reason, rule, apple_code, left(batch, 1) AS batch FROM unmigrated_subscriptions ORDER BY 1"
            ) == [
                "again waiting - - 1", "can cancelled - - 1", "late not crawled since - - 0",
                "new subscribed since the last plan - - -", "not not applied - - 1", "old never planned - - -",
                "out sorted out pending_change - 1", "ref rejected - 4030027 1", "unk outcome unknown - - 1",
                "wait waiting - - 1",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT product_id, reason, rule, apple_code, subscriptions FROM unmigrated_subscriptions_by_reason
                 WHERE reason IN ('waiting', 'rejected') ORDER BY 2
                """
            ) == ["plus rejected - 4030027 1", "plus waiting - - 2"]
        )
    }

    @Test func `without a planned migration PostgreSQL reads no subscription`() async throws {
        let world = try await TestLedger()
        try await world.buy("a | a | plus | now -9 days | now +20 days | 9990 |")
        #expect(try await world.count("current_subscriptions") == 1)
        let plan = try await world.plan(of: "SELECT * FROM unmigrated_subscriptions")
        // A condition without a column of a table: PostgreSQL asks it before it reads one, however large the tables are.
        #expect(plan.prefix(2).contains { $0.contains("One-Time Filter: ") }, "\(plan)")
        let scans = plan.filter { $0.contains("Scan") }
        let read = scans.filter { !$0.hasSuffix("(never executed)") }
        #expect(scans.count > 3 && read.allSatisfy { $0.contains(" on action_batches ") }, "\(read)")
    }
}
