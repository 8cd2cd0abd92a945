-- Which policies may answer refund requests without an approval of each batch, for how many rows, and until when? And which received
-- notifications may a job with a retention term remove?
--
-- Policies:
--
-- 1. An approval names the SHA-256 of a policy, a maximum number of rows and an expiry. Only the newest one of a job counts.
-- 2. storeledger actions run --follow plans a batch for new requests and has it approved in the same transaction. The function
--    approve_by_policy compares the policy, adds up the rows, and checks expiry and withdrawal: the role that plans and sends has
--    no right to approve.
-- 3. A withdrawal also ends the approvals of the batches that follow from it, so that their remaining rows are not sent.
--
-- Received notifications: the oldest ones go, up to a moment. After a removal the ledger is like that of a receiver that began at
-- this moment, so reconcile neither reports the removed ones nor changes the results of their days.
CREATE TABLE action_policy_approvals (
    app_id        integer     NOT NULL REFERENCES apps,
    approval_id   bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    job           text        NOT NULL,
    action        text        NOT NULL,
    policy_sha256 text        NOT NULL CHECK (policy_sha256 ~ '^[0-9a-f]{64}$'),
    maximum_rows  bigint      NOT NULL CHECK (maximum_rows > 0),
    approved_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    approved_by   text        NOT NULL DEFAULT session_user,
    expires_at    timestamptz NOT NULL,
    withdrawn_at  timestamptz,
    withdrawn_by  text,
    PRIMARY KEY (app_id, approval_id),
    CHECK (expires_at > approved_at),
    CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL))
);
COMMENT ON TABLE action_policy_approvals IS
    'Approvals of policies: while one is in force, storeledger actions run --follow answers new refund requests without an approval of each batch.';
COMMENT ON COLUMN action_policy_approvals.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_policy_approvals.approval_id IS 'The number of the approval. Of a job only the newest one counts.';
COMMENT ON COLUMN action_policy_approvals.job IS 'The name of the job.';
COMMENT ON COLUMN action_policy_approvals.action IS 'The key of the action in the job file: sendConsumptionInformation.';
COMMENT ON COLUMN action_policy_approvals.policy_sha256 IS
    'SHA-256 of the app, the job, the source of the consents and the rules of the policy, hexadecimal.';
COMMENT ON COLUMN action_policy_approvals.maximum_rows IS 'The most rows of all batches that follow from this approval.';
COMMENT ON COLUMN action_policy_approvals.approved_at IS 'When the policy was approved.';
COMMENT ON COLUMN action_policy_approvals.approved_by IS 'The database role that approved the policy.';
COMMENT ON COLUMN action_policy_approvals.expires_at IS 'No batch is planned, and no row is sent for the first time, after this moment.';
COMMENT ON COLUMN action_policy_approvals.withdrawn_at IS 'When the approval was withdrawn; NULL otherwise.';
COMMENT ON COLUMN action_policy_approvals.withdrawn_by IS 'The database role that withdrew the approval.';
CREATE INDEX action_policy_approvals_job ON action_policy_approvals (app_id, job, approval_id);

ALTER TABLE action_batches ADD COLUMN policy_sha256 text, ADD COLUMN policy_approval_id bigint;
COMMENT ON COLUMN action_batches.policy_sha256 IS 'SHA-256 of the policy that gave the rows their values, as in action_policy_approvals; NULL without a policy.';
COMMENT ON COLUMN action_batches.policy_approval_id IS
    'The approval of the policy from which the approval of this batch follows, in action_policy_approvals; NULL for a batch that was approved by itself.';
COMMENT ON COLUMN action_batches.approved_by IS 'The database role that approved the batch, or the policy that the batch follows from.';

-- An approval is given once, by the role that the session belongs to, now. One that follows from the approval of a policy names the
-- role that approved the policy. An approval can be made shorter, never longer.
CREATE OR REPLACE FUNCTION record_approval() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.approved_at IS NOT NULL THEN
        IF NEW.approval_expires_at < OLD.approval_expires_at
           AND (NEW.approved_at, NEW.approved_by, NEW.approved_rows, NEW.policy_approval_id)
               IS NOT DISTINCT FROM (OLD.approved_at, OLD.approved_by, OLD.approved_rows, OLD.policy_approval_id) THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'batch % is already approved', OLD.rows_sha256;
    END IF;
    NEW.approved_at := clock_timestamp();
    NEW.approved_by := session_user;
    IF NEW.policy_approval_id IS NOT NULL THEN
        SELECT p.approved_by INTO STRICT NEW.approved_by FROM action_policy_approvals p
         WHERE p.app_id = NEW.app_id AND p.approval_id = NEW.policy_approval_id;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION record_approval IS
    'Refuses a second approval of a batch, and records the role and the time of the first. An approval can only be made shorter.';

-- A withdrawal is recorded once, with the role and the time, and ends the approvals that follow from it.
CREATE FUNCTION record_withdrawal() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.withdrawn_at IS NOT NULL THEN
        RAISE EXCEPTION 'the approval of policy % is already withdrawn', OLD.policy_sha256;
    END IF;
    NEW.withdrawn_at := clock_timestamp();
    NEW.withdrawn_by := session_user;
    UPDATE action_batches b SET approval_expires_at = clock_timestamp()
     WHERE b.app_id = NEW.app_id AND b.job = NEW.job AND b.policy_approval_id = NEW.approval_id
       AND b.approval_expires_at > clock_timestamp();
    RETURN NEW;
END $$;
COMMENT ON FUNCTION record_withdrawal IS 'Records the role and the time of a withdrawal, and ends the approvals of batches that follow from it.';
REVOKE EXECUTE ON FUNCTION record_withdrawal FROM PUBLIC;
CREATE TRIGGER record_withdrawal BEFORE UPDATE OF withdrawn_at, withdrawn_by ON action_policy_approvals
    FOR EACH ROW EXECUTE FUNCTION record_withdrawal();

-- Two processes that answer requests at once plan one after the other, so that no request is in two batches. A withdrawal waits for a
-- plan, and a plan for a withdrawal.
CREATE FUNCTION lock_policy_approvals(p_app_id integer, p_job text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM FROM action_policy_approvals p WHERE p.app_id = p_app_id AND p.job = p_job ORDER BY p.approval_id DESC LIMIT 1 FOR UPDATE;
END $$;
COMMENT ON FUNCTION lock_policy_approvals IS 'Locks the newest approval of a job''s policy until the end of the transaction.';
REVOKE EXECUTE ON FUNCTION lock_policy_approvals FROM PUBLIC;

CREATE FUNCTION approve_by_policy(p_app_id integer, p_batch_id uuid, p_term interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    batch    action_batches%ROWTYPE;
    approval action_policy_approvals%ROWTYPE;
    approved bigint;
BEGIN
    SELECT b.* INTO batch FROM action_batches b WHERE b.app_id = p_app_id AND b.batch_id = p_batch_id;
    SELECT p.* INTO approval FROM action_policy_approvals p
     WHERE p.app_id = p_app_id AND p.job = batch.job ORDER BY p.approval_id DESC LIMIT 1 FOR UPDATE;
    SELECT coalesce(sum(b.approved_rows), 0) INTO approved FROM action_batches b
     WHERE b.app_id = p_app_id AND b.job = batch.job AND b.policy_approval_id = approval.approval_id;
    IF (approval.action = batch.action AND approval.policy_sha256 = batch.policy_sha256 AND approval.withdrawn_at IS NULL
        AND approval.expires_at > clock_timestamp() AND approved + batch.rows_to_send <= approval.maximum_rows
        AND batch.approved_at IS NULL AND batch.approval_required AND batch.rows_to_send > 0) IS NOT TRUE THEN
        RETURN false;
    END IF;
    UPDATE action_batches b SET policy_approval_id = approval.approval_id, approved_rows = b.rows_to_send, approved_at = clock_timestamp(),
           approval_expires_at = least(approval.expires_at, clock_timestamp() + p_term)
     WHERE b.app_id = p_app_id AND b.batch_id = p_batch_id;
    RETURN true;
END $$;
COMMENT ON FUNCTION approve_by_policy IS
    'Approves a planned batch if the newest approval of its job is of the same policy, is in force and has rows left; returns whether it did.';
REVOKE EXECUTE ON FUNCTION approve_by_policy FROM PUBLIC;

-- A job that is forgotten loses the approval of its policy too.
CREATE OR REPLACE FUNCTION forget_actions(p_app_id integer, p_job text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
BEGIN
    PERFORM FROM action_policy_approvals p WHERE p.app_id = p_app_id AND p.job = p_job FOR UPDATE;
    PERFORM FROM action_batches b WHERE b.app_id = p_app_id AND b.job = p_job FOR UPDATE;
    IF NOT EXISTS (SELECT FROM action_batches b WHERE b.app_id = p_app_id AND b.job = p_job AND b.removed_at IS NULL)
       AND NOT EXISTS (SELECT FROM action_policy_approvals p WHERE p.app_id = p_app_id AND p.job = p_job AND p.withdrawn_at IS NULL) THEN
        RETURN 'unknown';
    END IF;
    IF EXISTS (SELECT FROM action_batches b JOIN action_rows r ON r.app_id = b.app_id AND r.batch_id = b.batch_id
                WHERE b.app_id = p_app_id AND b.job = p_job AND r.lease_owner IS NOT NULL AND r.claimable_at > clock_timestamp()) THEN
        RETURN 'running';
    END IF;
    PERFORM discard_plans(p_app_id, p_job);
    UPDATE action_policy_approvals p SET withdrawn_at = clock_timestamp()
     WHERE p.app_id = p_app_id AND p.job = p_job AND p.withdrawn_at IS NULL;
    -- The next epoch keeps a process that has just leased a row from sending it.
    UPDATE action_rows r SET state = 'cancelled', claimable_at = NULL, lease_owner = NULL, lease_epoch = r.lease_epoch + 1
      FROM action_batches b
     WHERE b.app_id = p_app_id AND b.job = p_job AND r.app_id = b.app_id AND r.batch_id = b.batch_id
       AND r.state IN ('planned', 'approved');
    UPDATE action_batches b SET removed_at = clock_timestamp(),
           finished_at = CASE WHEN EXISTS (SELECT FROM action_rows r WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id
                                              AND r.state IN ('sending', 'confirming', 'unknown'))
                              THEN b.finished_at ELSE coalesce(b.finished_at, clock_timestamp()) END
     WHERE b.app_id = p_app_id AND b.job = p_job AND b.removed_at IS NULL;
    RETURN 'removed';
END $$;

-- The moment before which received notifications can be removed: all of them were normalised, Apple no longer serves their days, and
-- reconcile has the last result of their days, if it was ever used.
--
-- The newest one before the cutoff stays. It says since when the receiver has been working: without it, a notification that was lost
-- after the next receipt would seem to be older than the receiver.
CREATE FUNCTION received_retention_limit(p_app_id integer, p_cutoff timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE
    -- Apple serves 180 days of Production and 30 of the sandbox. A day more, because days are compared as a whole.
    limit_at timestamptz := least(p_cutoff, now() - CASE (SELECT a.environment FROM apps a WHERE a.app_id = p_app_id)
                                                        WHEN 'Production' THEN interval '181 days' ELSE interval '31 days' END);
    first_at timestamptz;
BEGIN
    SELECT least(limit_at, min(r.received_at)) INTO limit_at FROM received_notifications r
     WHERE r.app_id = p_app_id AND r.normalised_at IS NULL AND r.refused_because IS NULL;
    IF EXISTS (SELECT FROM notification_reconciliation c WHERE c.app_id = p_app_id) THEN
        SELECT min(r.received_at) - interval '8 days' INTO first_at FROM received_notifications r WHERE r.app_id = p_app_id;
        -- The result of a day can change until eight days after its end. A notification can be signed up to a day after its receipt, by
        -- clocks that differ.
        SELECT least(limit_at, min(d.day) - interval '24 hours') INTO limit_at
          FROM generate_series(date_trunc('day', first_at, 'UTC'), limit_at + interval '24 hours', interval '24 hours') d (day)
         WHERE NOT EXISTS (SELECT FROM notification_reconciliation c
                            WHERE c.app_id = p_app_id AND c.day = (d.day AT TIME ZONE 'UTC')::date
                            GROUP BY c.day HAVING min(c.checked_at) >= d.day + interval '216 hours' AND sum(c.to_be_read_again) = 0)
           AND EXISTS (SELECT FROM received_notifications r
                        WHERE r.app_id = p_app_id AND r.signed_date >= d.day AND r.signed_date < d.day + interval '24 hours'
                          AND r.version = 2 AND r.refused_because IS NULL
                          AND EXISTS (SELECT FROM notifications n WHERE n.app_id = r.app_id AND n.notification_uuid = r.notification_uuid));
    END IF;
    RETURN coalesce((SELECT max(r.received_at) FROM received_notifications r
                      WHERE r.app_id = p_app_id AND r.received_at < limit_at AND r.version = 2 AND r.refused_because IS NULL), limit_at);
END $$;
COMMENT ON FUNCTION received_retention_limit IS
    'Returns the moment before which received notifications can be removed: not later than the cutoff, and not what reconcile still needs.';

-- Removes the oldest received notifications, up to p_rows. The term is at least a day.
CREATE FUNCTION remove_old_received(p_app_id integer, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    limit_at timestamptz := received_retention_limit(p_app_id, now() - greatest(p_term, interval '1 day'));
BEGIN
    WITH old AS MATERIALIZED (
        SELECT r.notification_uuid FROM received_notifications r
         WHERE r.app_id = p_app_id AND r.received_at < limit_at AND r.refused_because IS NULL
         ORDER BY r.received_at LIMIT p_rows FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM received_notifications r USING old o WHERE r.app_id = p_app_id AND r.notification_uuid = o.notification_uuid
        RETURNING pg_column_size(r.*) AS bytes
    )
    SELECT count(*), coalesce(sum(g.bytes), 0) INTO removed, bytes FROM gone g;
    is_end := removed < p_rows;
END $$;
COMMENT ON FUNCTION remove_old_received IS 'Removes the oldest received notifications that nothing needs any more.';

-- The table and the functions belong to the ledger's owner. Roles that act, approve or load already may use them before sql/roles.sql
-- runs again. PUBLIC may not.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE action_policy_approvals OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'action_policy_approvals'::regclass
        UNION ALL
        SELECT format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, pg_get_userbyid(runs.relowner))
          FROM pg_proc p JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> p.proowner
         WHERE p.pronamespace = runs.relnamespace AND p.proname IN ('record_withdrawal', 'lock_policy_approvals', 'approve_by_policy', 'received_retention_limit', 'remove_old_received')
        UNION ALL
        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure) FROM pg_proc p
         WHERE p.pronamespace = current_schema()::regnamespace AND p.proname IN ('received_retention_limit', 'remove_old_received')
        UNION ALL
        SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, loader.name)
          FROM pg_proc p,
               (SELECT DISTINCT pg_get_userbyid(a.grantee) AS name FROM pg_class c, aclexplode(c.relacl) a
                 WHERE c.oid = 'runs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner AND a.grantee <> 0) loader
         WHERE p.pronamespace = current_schema()::regnamespace AND p.proname IN ('received_retention_limit', 'remove_old_received')
        UNION ALL
        SELECT format(rights, actor.name)
          FROM (SELECT DISTINCT pg_get_userbyid(a.grantee) AS name FROM pg_class c, aclexplode(c.relacl) a
                 WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT') actor,
               unnest(ARRAY['GRANT SELECT ON action_policy_approvals TO %I', 'GRANT INSERT (policy_sha256) ON action_batches TO %I',
                            'GRANT EXECUTE ON FUNCTION lock_policy_approvals(integer, text) TO %I',
                            'GRANT EXECUTE ON FUNCTION approve_by_policy(integer, uuid, interval) TO %I']) rights
        UNION ALL
        SELECT format('GRANT SELECT, INSERT (app_id, job, action, policy_sha256, maximum_rows, expires_at), UPDATE (withdrawn_at) ON action_policy_approvals TO %I',
                      approver.name)
          FROM (SELECT DISTINCT pg_get_userbyid(a.grantee) AS name FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
                 WHERE c.oid = 'action_batches'::regclass AND t.attname = 'approved_at' AND a.grantee <> c.relowner AND a.grantee <> 0
                   AND a.privilege_type = 'UPDATE') approver
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
