import Postgres
import TestSupport
import Testing

/// The role of `storeledger receive`.
@Suite(.migratedDatabase)
struct ReceiverRoleTests {
    @Test func `the receiver stores notifications and their records, and can neither crawl, erase nor send`()
        async throws
    {
        try await LedgerRoles.with { roles in
            let connection = try PostgresConnection(conninfo: roles.conninfo("receiver"))
            func state(_ statement: String) throws -> SQLState {
                do throws(PostgresError) {
                    try connection.script("BEGIN; SET LOCAL search_path = appstore, pg_temp; \(statement); ROLLBACK")
                    return .successfulCompletion
                } catch {
                    try connection.script("ROLLBACK")
                    return error.state
                }
            }
            for statement in [
                "DELETE FROM received_notifications", "DELETE FROM forwards", "UPDATE notifications SET subtype = 'x'",
                "SELECT FROM erased_marks", "LOCK TABLE erasure_lock IN ROW SHARE MODE", "CREATE TEMP TABLE mine ()",
                "SELECT end_erased_items(1, 1, '{1}')", "SELECT add_app('x', 'Sandbox', 1, '{}')", "SELECT FROM apps",
            ] { #expect(try state(statement) == .successfulCompletion, "\(statement)") }
            for statement in [
                "DELETE FROM notifications", "DELETE FROM transactions", "INSERT INTO runs DEFAULT VALUES",
                "SELECT FROM runs", "INSERT INTO crawl_items DEFAULT VALUES", "SELECT FROM refunds",
                "SELECT FROM rate_buckets", "SELECT FROM action_rows", "SELECT FROM revenue_by_day",
                "INSERT INTO erasure_keys (app_id, key) VALUES (1, '')", "SELECT FROM refresh_views()",
                "CREATE TABLE appstore.mine ()", "UPDATE apps SET trusted_roots = '{}'", "DELETE FROM apps",
                "INSERT INTO apps (bundle_id, environment) VALUES ('x', 'Sandbox')",
                "UPDATE crawl_items SET item_key = 'x'", "SELECT item_key FROM crawl_items",
                "UPDATE coverage_gaps SET item_key = 'x'", "SELECT item_key FROM coverage_gaps",
            ] { #expect(try state(statement) == .insufficientPrivilege, "\(statement)") }
        }
    }
}
