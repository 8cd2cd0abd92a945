import Postgres
import TestSupport
import Testing

/// The roles that plan, send and approve actions.
@Suite(.migratedDatabase)
struct ActionRoleTests {
    @Test func `the actor cannot approve, the approver can do nothing else, and the loader has no right`() async throws
    {
        try await LedgerRoles.with { roles in
            func state(_ word: String, _ statement: String) throws -> SQLState {
                let connection = try PostgresConnection(conninfo: roles.conninfo(word))
                do throws(PostgresError) {
                    // An analyst's session is read-only by default.
                    try connection.script(
                        "BEGIN READ WRITE; SET LOCAL search_path = appstore, pg_temp; \(statement); COMMIT"
                    )
                    return .successfulCompletion
                } catch {
                    return error.state
                }
            }
            for (statement, allowed) in [
                ("SELECT count(*) FROM action_rows", ["actor", "approver", "eraser"]),
                ("UPDATE action_batches SET started_at = now()", ["actor"]),
                ("UPDATE action_batches SET approved_at = now()", ["approver"]),
                ("UPDATE action_batches SET rows_sha256 = ''", []),
                ("UPDATE action_batches SET approval_required = false", []),
                ("UPDATE action_rows SET state = 'sending'", ["actor", "eraser"]),
                ("UPDATE action_rows SET parameters = '{}'", ["eraser"]),
                ("DELETE FROM action_rows", []),
                ("DELETE FROM action_batches", []),
                ("SELECT discard_plans(1, 'nothing')", ["actor"]),
                ("SELECT forget_actions(1, 'nothing')", ["actor"]),
                ("SELECT count(*) FROM action_policy_approvals", ["actor", "approver"]),
                (
                    """
                    INSERT INTO action_policy_approvals (app_id, job, action, policy_sha256, maximum_rows, expires_at)
                    SELECT 1, '', '', '', 1, now() WHERE false
                    """, ["approver"]
                ),
                ("INSERT INTO action_policy_approvals (approved_by) SELECT '' WHERE false", []),
                ("INSERT INTO action_policy_approvals (policy) SELECT '{}' WHERE false", ["approver"]),
                ("SELECT erasure_key(1)", ["actor", "loader", "eraser"]),
                ("INSERT INTO erased_marks (app_id, mark) SELECT 1, '' WHERE false", ["loader", "eraser"]),
                ("UPDATE action_policy_approvals SET withdrawn_at = now()", ["approver"]),
                ("UPDATE action_policy_approvals SET withdrawn_by = 'x'", []),
                ("UPDATE action_policy_approvals SET maximum_rows = 9", []),
                ("DELETE FROM action_policy_approvals", []),
                ("UPDATE action_batches SET policy_approval_id = 1", []),
                ("SELECT lock_approvals(1, 'nothing')", ["actor", "approver"]),
                ("SELECT end_approvals(1, 'nothing', 'withdrawn')", ["actor", "approver"]),
                ("UPDATE action_batches SET approval_ended_because = 'withdrawn'", ["actor", "approver"]),
                ("UPDATE action_batches SET approval_ended_at = NULL", []),
                ("SELECT approve_by_policy(1, gen_random_uuid(), interval '1 hour')", ["actor"]),
                ("SELECT count(*) FROM transactions", ["actor", "loader", "exporter", "eraser"]),
                (
                    "SELECT count(*) FROM renewals, advanced_commerce_items, advanced_commerce_refunds",
                    ["actor", "loader", "exporter", "eraser"]
                ),
                ("UPDATE action_rows SET consistency_token = 'x'", ["eraser"]),
                // The statement reads action_rows, seats, seat_claims and unclaimed_seats.
                (
                    """
                    SELECT seat_claim_has_ended(jsonb_populate_record(NULL::action_rows, '{"state": "succeeded", "answer": {"seatClaimId": "x"}}'))
                    """, ["actor"]
                ),
                ("SELECT reusable_request_id(1, gen_random_uuid(), 1, '1', 'reportExternalPurchases')", ["actor"]),
                ("UPDATE transactions SET product_id = 'x'", ["loader"]),
                (
                    "SELECT count(*) FROM actions_confirmed, actions_by_batch, consumption_requests",
                    ["actor", "loader", "exporter", "analyst"]
                ),
            ] {
                for word in ["actor", "approver", "loader", "exporter", "eraser", "analyst"] {
                    let expected = allowed.contains(word) ? SQLState.successfulCompletion : .insufficientPrivilege
                    let found = try state(word, statement)
                    #expect(found == expected, "\(word): \(statement)")
                }
            }
        }
    }
}
