-- When may a row be sent, and what ends its approval?
--
-- 1. A row is sent for the first time only while the approval of its batch is in force. record_intent.sql checks this in the statement that records
--    the request, before it is sent. A row that may have been sent already can be sent again without it, to find out its outcome, unless Apple
--    says that it has none of the row's requests.
-- 2. An approval ends when it is withdrawn, when a newer one of the job is given, when the policy is changed, and when the job is removed. An
--    expired one ends when another batch answers one of its requests. In the same transaction end_approval cancels the rows that were not sent.
-- 3. Approvals, withdrawals and plans of answers take turns: lock_approvals.

-- This is a lock on a row. Any role that can connect could take an advisory lock.
CREATE OR REPLACE FUNCTION lock_approvals(p_app_id integer, p_job text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO action_jobs (app_id, job) SELECT a.app_id, p_job FROM apps a WHERE a.app_id = p_app_id ON CONFLICT DO NOTHING;
    PERFORM FROM action_jobs j WHERE j.app_id = p_app_id AND j.job = p_job FOR UPDATE;
END $$;
COMMENT ON FUNCTION lock_approvals IS 'Keeps other approvals, withdrawals and plans of answers of the job waiting until the end of the transaction.';

CREATE OR REPLACE FUNCTION approval_is_in_force(b action_batches) RETURNS boolean LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT (b.approved_at IS NOT NULL OR NOT b.approval_required) AND b.approval_ended_because IS NULL
           AND (b.approval_expires_at > clock_timestamp()) IS NOT FALSE
           AND NOT EXISTS (SELECT FROM action_policy_approvals p
                            WHERE p.app_id = b.app_id AND p.approval_id = b.policy_approval_id
                              AND (p.withdrawn_at IS NOT NULL OR p.expires_at <= clock_timestamp()))
$$;
COMMENT ON FUNCTION approval_is_in_force IS
    'Whether rows of the batch may be sent for the first time, by the database''s clock: it is approved or needs no approval, and the approval has neither expired nor ended.';

CREATE OR REPLACE FUNCTION end_approvals(p_app_id integer, p_job text, p_because text, p_except uuid DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    ended bigint;
BEGIN
    UPDATE action_batches b SET approval_ended_because = p_because
     WHERE b.app_id = p_app_id AND b.job = p_job AND b.batch_id IS DISTINCT FROM p_except
       AND (b.approved_at IS NOT NULL OR NOT b.approval_required) AND b.approval_ended_because IS NULL AND b.finished_at IS NULL;
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END $$;
COMMENT ON FUNCTION end_approvals IS 'Ends the approvals of all batches of a job with rows left, except one; returns their number.';

-- A process that has leased a row cannot send it, because the epoch of the row changes.
CREATE OR REPLACE FUNCTION end_approval() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.approval_ended_because IS NOT NULL OR NEW.approval_ended_because IS NULL THEN
        RAISE EXCEPTION 'the approval of batch % ends once', OLD.rows_sha256;
    END IF;
    NEW.approval_ended_at := clock_timestamp();
    NEW.approval_ended_by := session_user;
    UPDATE action_rows r SET state = 'cancelled', ended_at = clock_timestamp(), claimable_at = NULL, lease_owner = NULL,
           lease_epoch = r.lease_epoch + 1,
           apple_message = format('not sent: %s', CASE NEW.approval_ended_because
               WHEN 'withdrawn' THEN 'the approval was withdrawn'
               WHEN 'superseded' THEN 'a newer approval of the job was given'
               WHEN 'policy changed' THEN 'the policy was changed'
               WHEN 'expired' THEN 'the approval has expired'
               WHEN 'removed' THEN 'the job was removed' END)
     WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.state IN ('planned', 'approved');
    IF NOT EXISTS (SELECT FROM action_rows r WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id
                      AND r.state IN ('sending', 'confirming', 'unknown')) THEN
        NEW.finished_at := coalesce(NEW.finished_at, clock_timestamp());
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION end_approval IS 'Cancels the rows of a batch that were not sent when its approval ends, and records the role and the time.';

-- A refund request is answered by one batch. If a row of another batch can still be sent for it, or may have been, the unique index
-- action_rows_one_answer refuses the approval. The index does not have rows that have ended: the last IF finds those that have answered the request.
CREATE OR REPLACE FUNCTION begin_approval() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    -- A batch of a policy skips this step: older approvals ended when the policy was approved (supersede_approvals).
    IF NEW.policy_approval_id IS NULL THEN
        PERFORM lock_approvals(NEW.app_id, NEW.job);
        PERFORM end_approvals(NEW.app_id, NEW.job, 'superseded', NEW.batch_id);
        -- The plan repeats rows of an older batch that were not sent then, because this approval ends the older one. If such a row has been sent since
        -- the plan, it would be sent twice.
        IF EXISTS (SELECT FROM action_batches o
                    WHERE o.app_id = NEW.app_id AND o.job = NEW.job AND o.batch_id <> NEW.batch_id AND o.started_at IS NOT NULL
                      AND (o.finished_at IS NULL OR o.finished_at > NEW.planned_at - interval '24 hours'))
           AND EXISTS (SELECT FROM action_rows r
                       CROSS JOIN LATERAL (
                           SELECT x.parameters, x.first_sent_at
                             FROM action_rows x JOIN action_batches o ON o.app_id = x.app_id AND o.batch_id = x.batch_id
                            WHERE x.app_id = r.app_id AND x.subject = r.subject AND x.batch_id <> r.batch_id AND o.job = NEW.job AND o.action = NEW.action
                              AND (x.state = 'succeeded' OR x.may_be_applied)
                              AND (x.first_sent_at < r.send_by - interval '12 hours') IS NOT TRUE
                            ORDER BY o.planned_at DESC LIMIT 1
                       ) earlier
                       WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.verdict = 'valid' AND r.state IN ('planned', 'approved')
                         AND earlier.parameters = r.parameters) THEN
            RAISE EXCEPTION USING ERRCODE = 'SL002', MESSAGE = 'an older batch of the job has sent rows of the batch since it was planned';
        END IF;
    END IF;
    IF NOT EXISTS (SELECT FROM action_rows r WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.send_by IS NOT NULL AND r.verdict = 'valid') THEN
        RETURN NULL;
    END IF;
    -- Rows of other batches that cannot be sent any more still have the requests in the index. They end here.
    UPDATE action_batches o SET approval_ended_because = 'expired'
     WHERE o.app_id = NEW.app_id AND o.batch_id <> NEW.batch_id AND o.approval_ended_because IS NULL AND o.finished_at IS NULL
       AND o.approval_expires_at <= clock_timestamp()
       AND o.batch_id IN (SELECT x.batch_id FROM action_rows r JOIN action_rows x ON x.app_id = r.app_id AND x.subject = r.subject
                           WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.verdict = 'valid' AND x.state = 'approved');
    UPDATE action_rows x SET state = CASE WHEN x.may_be_applied THEN 'unknown' ELSE 'cancelled' END, ended_at = clock_timestamp(),
           claimable_at = NULL, lease_owner = NULL, lease_epoch = x.lease_epoch + 1
      FROM action_rows r
     WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.verdict = 'valid'
       AND x.app_id = r.app_id AND x.subject = r.subject AND x.batch_id <> r.batch_id AND x.send_by <= clock_timestamp() AND x.ended_at IS NULL
       AND x.state IN ('approved', 'sending', 'confirming', 'unknown')
       AND (NOT x.may_be_applied OR x.lease_owner IS NULL OR x.claimable_at <= clock_timestamp());
    UPDATE action_rows r SET state = 'approved'
     WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.state = 'planned' AND r.send_by IS NOT NULL;
    IF EXISTS (SELECT FROM action_rows r JOIN action_rows x ON x.app_id = r.app_id AND x.subject = r.subject AND x.batch_id <> r.batch_id
                WHERE r.app_id = NEW.app_id AND r.batch_id = NEW.batch_id AND r.state = 'approved' AND x.send_by IS NOT NULL
                  AND (x.state = 'succeeded' OR x.may_be_applied) AND x.first_sent_at >= r.send_by - interval '12 hours') THEN
        RAISE EXCEPTION USING ERRCODE = 'SL002', MESSAGE = 'another batch has answered a request of the batch since it was planned';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION begin_approval IS
    'Ends the approvals of the job''s older batches when one is approved by itself, and refuses an approval whose rows another batch has sent since the plan.';

CREATE OR REPLACE FUNCTION supersede_approvals() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM lock_approvals(NEW.app_id, NEW.job);
    PERFORM end_approvals(NEW.app_id, NEW.job, 'superseded');
    RETURN NULL;
END $$;
COMMENT ON FUNCTION supersede_approvals IS 'Ends the approvals of the job''s batches when its policy is approved.';

CREATE OR REPLACE TRIGGER end_approval BEFORE UPDATE OF approval_ended_at, approval_ended_by, approval_ended_because ON action_batches
    FOR EACH ROW EXECUTE FUNCTION end_approval();
CREATE OR REPLACE TRIGGER begin_approval AFTER UPDATE OF approved_at ON action_batches
    FOR EACH ROW WHEN (OLD.approved_at IS NULL AND NEW.approved_at IS NOT NULL) EXECUTE FUNCTION begin_approval();
CREATE OR REPLACE TRIGGER begin_approval_at_once AFTER INSERT ON action_batches
    FOR EACH ROW WHEN (NEW.approved_at IS NOT NULL OR NOT NEW.approval_required) EXECUTE FUNCTION begin_approval();
CREATE OR REPLACE TRIGGER supersede_approvals AFTER INSERT ON action_policy_approvals
    FOR EACH ROW EXECUTE FUNCTION supersede_approvals();

REVOKE EXECUTE ON FUNCTION lock_approvals, approval_is_in_force, end_approvals, end_approval, begin_approval, supersede_approvals FROM PUBLIC;

-- Roles that act and approve already may use them before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT EXECUTE ON FUNCTION lock_approvals, approval_is_in_force, end_approvals, salted_row_sha256 TO %I',
                               pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT DISTINCT format('GRANT EXECUTE ON FUNCTION lock_approvals, approval_is_in_force, end_approvals TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
         WHERE c.oid = 'action_batches'::regclass AND t.attname = 'approved_at' AND a.grantee <> c.relowner AND a.grantee <> 0
           AND a.privilege_type = 'UPDATE'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
