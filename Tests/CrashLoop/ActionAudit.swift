import Postgres
import TestSupport

/// Triggers that record every change of the tables of actions inside the database; see ``AuditTrail``.
enum ActionAudit {
    static let install = """
        CREATE FUNCTION audit.watch_action_rows() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            who text := current_setting('application_name');
            item text := NEW.batch_id || ' ' || NEW.position;
            holder text;
        BEGIN
            IF who = '\(AuditTrail.ownName)' THEN RETURN NULL; END IF;
            IF audit.is_erasure() THEN
                -- It clears a row, whoever holds it.
                IF (NEW.input, NEW.lease_epoch) IS DISTINCT FROM ('{}', OLD.lease_epoch + 1) OR num_nonnulls(NEW.parameters, NEW.subject, NEW.lease_owner) > 0
                    OR NEW.state <> (CASE WHEN OLD.state IN ('planned', 'approved') THEN 'cancelled'
                                          WHEN OLD.state IN ('sending', 'confirming') THEN 'unknown' ELSE OLD.state END) THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: an erasure made %s of %s', item, NEW.state, OLD.state));
                END IF;
                RETURN NULL;
            END IF;
            IF OLD.request_id IS NOT NULL AND NEW.request_id IS DISTINCT FROM OLD.request_id THEN
                INSERT INTO audit.broken (what) VALUES (format('%s: request ID %s after %s', item, NEW.request_id, OLD.request_id));
            END IF;
            IF OLD.state IN ('succeeded', 'rejected', 'not_applied', 'skipped', 'cancelled') AND NEW.state <> OLD.state THEN
                INSERT INTO audit.broken (what) VALUES (format('%s: %s after %s', item, NEW.state, OLD.state));
            END IF;
            IF NEW.state IN ('planned', 'approved', 'skipped') AND NEW.may_be_applied THEN
                INSERT INTO audit.broken (what) VALUES (format('%s: %s, although it may be applied', item, NEW.state));
            END IF;
            IF (NEW.input, NEW.parameters, NEW.subject, NEW.verdict) IS DISTINCT FROM (OLD.input, OLD.parameters, OLD.subject, OLD.verdict)
                OR NEW.attempts < OLD.attempts THEN
                INSERT INTO audit.broken (what) VALUES (format('%s: the planned row was changed', item));
            END IF;
            -- The end of an approval cancels rows that a process holds, but none that can have been sent.
            IF NEW.state = 'cancelled' AND NEW.lease_epoch = OLD.lease_epoch + 1 THEN
                IF OLD.may_be_applied OR NEW.first_sent_at IS NOT NULL THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: cancelled, although it may be applied', item));
                END IF;
                RETURN NULL;
            END IF;
            IF NEW.lease_epoch <> OLD.lease_epoch THEN
                IF NEW.lease_epoch <> OLD.lease_epoch + 1 THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: epoch %s after %s', item, NEW.lease_epoch, OLD.lease_epoch));
                END IF;
                IF OLD.claimable_at IS NULL OR OLD.claimable_at > clock_timestamp() THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: taken while it was %s until %s', item, OLD.state, OLD.claimable_at));
                END IF;
                INSERT INTO audit.claims (stream, item_key, epoch, worker) VALUES ('action', item, NEW.lease_epoch, who);
            ELSIF OLD.lease_owner IS NOT NULL THEN
                SELECT worker INTO holder FROM audit.claims c
                 WHERE c.stream = 'action' AND c.item_key = item AND c.epoch = OLD.lease_epoch;
                IF holder IS DISTINCT FROM who THEN
                    INSERT INTO audit.broken (what) VALUES (format('%s: changed by who does not hold it (%s does): %s -> %s',
                        item, holder, OLD.state, NEW.state));
                END IF;
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER audit AFTER UPDATE ON appstore.action_rows FOR EACH ROW EXECUTE FUNCTION audit.watch_action_rows();

        CREATE FUNCTION audit.watch_intents() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO audit.broken (what)
            SELECT format('A11: %s %s was sent for the first time at %s, after its approval had ended (%s)', NEW.batch_id, NEW.position, NEW.sent_at,
                          coalesce(b.approval_ended_because, 'expired'))
              FROM appstore.action_batches b
             WHERE b.app_id = NEW.app_id AND b.batch_id = NEW.batch_id
               AND (b.approval_ended_at IS NOT NULL OR b.approval_expires_at < NEW.sent_at - interval '2 seconds');
            RETURN NULL;
        END $$;
        CREATE TRIGGER audit_intents AFTER INSERT ON appstore.action_attempts
            FOR EACH ROW WHEN (NEW.purpose = 'send') EXECUTE FUNCTION audit.watch_intents();

        CREATE FUNCTION audit.watch_action_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' AND audit.is_erasure() THEN
                RETURN NULL;
            ELSIF TG_OP = 'DELETE' THEN
                INSERT INTO audit.broken (what) VALUES (format('%s %s: attempt %s was deleted', OLD.batch_id, OLD.position, OLD.attempt));
            ELSIF OLD.ended_at IS NOT NULL OR NEW.request_sha256 <> OLD.request_sha256 OR NEW.purpose <> OLD.purpose THEN
                INSERT INTO audit.broken (what) VALUES (format('%s %s: attempt %s was changed', OLD.batch_id, OLD.position, OLD.attempt));
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER audit AFTER UPDATE OR DELETE ON appstore.action_attempts
            FOR EACH ROW EXECUTE FUNCTION audit.watch_action_attempts();
        """

    /// Ends the leases of dead processes, as waiting a minute would do.
    static func endLeases(of workers: [String], in book: LedgerBook) async throws {
        try await book.with { connection in
            _ = try connection.run(
                """
                UPDATE action_rows r SET claimable_at = clock_timestamp() FROM audit.claims c
                 WHERE r.lease_owner IS NOT NULL AND c.stream = 'action' AND c.item_key = r.batch_id || ' ' || r.position
                   AND c.epoch = r.lease_epoch AND c.worker = ANY ($1::text[])
                """,
                [.textArray(workers)]
            )
        }
    }
}
