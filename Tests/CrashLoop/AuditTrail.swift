import Postgres
import TestSupport

/// Triggers that record every change of a ledger inside the database.
///
/// The `application_name` of a session identifies the process that makes a change; every process under test has its own.
enum AuditTrail {
    /// The name of the crash loop itself, whose changes are not checked.
    static let ownName = "crash-loop"

    static let install: String = {
        let ranks = [
            ("transactions", "transaction_id", true), ("refunds", "transaction_id", true),
            ("renewals", "original_transaction_id", false), ("notifications", "notification_uuid", false),
        ].map { table, key, hasRevocation in
            let rank = { (row: String) in
                "(\(row).signed_date, \(hasRevocation ? "\(row).revocation_date IS NOT NULL, " : "")\(row).payload_sha256)"
            }
            return """
                CREATE FUNCTION audit.watch_\(table)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF TG_OP = 'DELETE' AND audit.is_erasure() THEN
                        RETURN NULL;
                    ELSIF TG_OP = 'DELETE' THEN
                        INSERT INTO audit.broken (what) VALUES ('\(table) ' || OLD.\(key) || ' was deleted');
                    ELSIF NOT \(rank("NEW")) > \(rank("OLD")) AND NOT \(onlyListed(table)) THEN
                        INSERT INTO audit.broken (what) VALUES (format('\(table) %s of %s was replaced by that of %s',
                            OLD.\(key), OLD.signed_date, NEW.signed_date));
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER audit AFTER UPDATE OR DELETE ON appstore.\(table)
                    FOR EACH ROW EXECUTE FUNCTION audit.watch_\(table)();
                """
        }
        return base + ranks.joined(separator: "\n")
    }()

    /// Whether a change only adds the listed ID of a transaction: a history adds it to a transaction from a notification.
    private static func onlyListed(_ table: String) -> String {
        guard table == "transactions" else { return "false" }
        let others = { (row: String) in "to_jsonb(\(row)) - 'listed_transaction_id'" }
        return "(OLD.listed_transaction_id IS NULL AND \(others("NEW")) = \(others("OLD")))"
    }

    private static let base = """
        CREATE SCHEMA audit;
        CREATE TABLE audit.broken (
            what text, who text DEFAULT current_setting('application_name'), at timestamptz DEFAULT clock_timestamp());
        CREATE TABLE audit.claims (
            stream text, item_key text, epoch bigint, worker text, at timestamptz DEFAULT clock_timestamp(),
            PRIMARY KEY (stream, item_key, epoch));
        CREATE TABLE audit.steps (
            stream text, item_key text, page_seq bigint, epoch bigint, worker text, at timestamptz DEFAULT clock_timestamp());
        CREATE TABLE audit.grants (endpoint text PRIMARY KEY, granted bigint NOT NULL);

        -- Only an erasure takes the lock in this mode.
        CREATE FUNCTION audit.is_erasure() RETURNS boolean LANGUAGE sql AS $$
            SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'appstore.erasure_lock'::regclass AND mode = 'ExclusiveLock' AND granted
                              AND pid = pg_backend_pid())
        $$;

        CREATE FUNCTION audit.watch_items() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            who text := current_setting('application_name');
            item text := NEW.stream || ' ' || NEW.item_key;
            holder text;
            is_new_run boolean := NEW.run_id <> OLD.run_id OR NEW.error_message LIKE '%superseded%';
        BEGIN
            IF who = '\(ownName)' THEN RETURN NULL; END IF;
            -- Refunds that are due are marked on items that another worker can hold.
            IF to_jsonb(NEW) - '{saw_revocation,refunds_due}'::text[] = to_jsonb(OLD) - '{saw_revocation,refunds_due}'::text[] THEN
                RETURN NULL;
            END IF;
            SELECT worker INTO holder FROM audit.claims c
             WHERE c.stream = OLD.stream AND c.item_key = OLD.item_key AND c.epoch = OLD.lease_epoch;
            IF NEW.lease_epoch <> OLD.lease_epoch THEN
                IF NEW.lease_epoch <> OLD.lease_epoch + 1 THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: epoch %s after %s', item, NEW.lease_epoch, OLD.lease_epoch));
                END IF;
                IF OLD.claimable_at IS NULL OR OLD.claimable_at > clock_timestamp() THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: taken while it was %s until %s', item, OLD.state, OLD.claimable_at));
                END IF;
                INSERT INTO audit.claims (stream, item_key, epoch, worker) VALUES (NEW.stream, NEW.item_key, NEW.lease_epoch, who);
            ELSIF NOT is_new_run AND holder IS DISTINCT FROM who THEN
                INSERT INTO audit.broken (what) VALUES (format('%s: changed by who does not hold it (%s does): %s -> %s, page %s -> %s',
                    item, holder, OLD.state, NEW.state, OLD.page_seq, NEW.page_seq));
            END IF;
            IF NEW.page_seq <> OLD.page_seq THEN
                IF NEW.page_seq <> OLD.page_seq + 1 OR OLD.state <> 'leased' OR is_new_run THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: page %s after %s, %s', item, NEW.page_seq, OLD.page_seq, OLD.state));
                END IF;
                INSERT INTO audit.steps (stream, item_key, page_seq, epoch, worker)
                VALUES (NEW.stream, NEW.item_key, NEW.page_seq, NEW.lease_epoch, who);
            ELSIF NEW.cursor IS DISTINCT FROM OLD.cursor AND NOT is_new_run AND NEW.restarts = OLD.restarts
                  AND NEW.other_environment IS NOT DISTINCT FROM OLD.other_environment THEN
                INSERT INTO audit.broken (what) VALUES (format('%s: another cursor without a page', item));
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER audit AFTER UPDATE ON appstore.crawl_items FOR EACH ROW EXECUTE FUNCTION audit.watch_items();

        CREATE FUNCTION audit.watch_grants() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO audit.grants AS g VALUES (NEW.endpoint, NEW.granted - CASE WHEN TG_OP = 'UPDATE' THEN OLD.granted ELSE 0 END)
            ON CONFLICT (endpoint) DO UPDATE SET granted = g.granted + excluded.granted;
            RETURN NULL;
        END $$;
        CREATE TRIGGER audit AFTER INSERT OR UPDATE ON appstore.rate_buckets FOR EACH ROW EXECUTE FUNCTION audit.watch_grants();

        """

    /// The invalid changes, with the process that made them.
    static func broken(in book: LedgerBook) async throws -> [String] {
        try await book.column("SELECT at::time || ' ' || who || ': ' || what FROM audit.broken ORDER BY at")
    }

    /// The number of granted requests so far, by endpoint.
    static func grants(in book: LedgerBook) async throws -> [String: Int] {
        try await book.with { connection in
            var grants: [String: Int] = [:]
            for row in try connection.run("SELECT endpoint, granted FROM audit.grants") {
                grants[try row.text("endpoint")] = Int(try row.int64("granted"))
            }
            return grants
        }
    }

    /// I9: no request without a grant.
    static func overspent(_ arrivals: [SimulatedStore.Arrival], _ grants: [String: Int]) -> [String] {
        Dictionary(grouping: arrivals, by: \.endpoint).compactMap { endpoint, sent in
            let granted = grants[endpoint] ?? 0
            return sent.count <= granted ? nil : "I9: \(sent.count) requests of \(endpoint), \(granted) granted"
        }
    }

    /// Ends the leases of dead processes, as waiting a minute would do.
    static func endLeases(of workers: [String], in book: LedgerBook) async throws {
        try await book.with { connection in
            _ = try connection.run(
                """
                UPDATE crawl_items i SET claimable_at = clock_timestamp() FROM audit.claims c
                 WHERE i.state = 'leased' AND c.stream = i.stream AND c.item_key = i.item_key AND c.epoch = i.lease_epoch
                   AND c.worker = ANY ($1::text[])
                """,
                [.textArray(workers)]
            )
        }
    }
}
