-- How is a job with an action forgotten, without forgetting what it sent?
--
-- Plans that were neither approved nor started are deleted: nothing of them was sent. Rows of other batches that were never sent are
-- cancelled, so that no later run sends them. Batches, approvals and everything that was sent stay, because a later job of the same name must
-- know it: otherwise it could extend a subscription again.
ALTER TABLE action_batches ADD COLUMN removed_at timestamptz;
COMMENT ON COLUMN action_batches.removed_at IS
    'When storeledger jobs remove forgot the job of this batch; NULL otherwise. The batch stays, and its rows that were never sent are cancelled.';

-- Only the owner may delete and cancel rows, so the function has the owner's rights.
CREATE FUNCTION forget_actions(p_app_id integer, p_job text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
BEGIN
    PERFORM FROM action_batches b WHERE b.app_id = p_app_id AND b.job = p_job FOR UPDATE;
    IF NOT EXISTS (SELECT FROM action_batches b WHERE b.app_id = p_app_id AND b.job = p_job AND b.removed_at IS NULL) THEN
        RETURN 'unknown';
    END IF;
    IF EXISTS (SELECT FROM action_batches b JOIN action_rows r ON r.app_id = b.app_id AND r.batch_id = b.batch_id
                WHERE b.app_id = p_app_id AND b.job = p_job AND r.lease_owner IS NOT NULL AND r.claimable_at > clock_timestamp()) THEN
        RETURN 'running';
    END IF;
    PERFORM discard_plans(p_app_id, p_job);
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
COMMENT ON FUNCTION forget_actions IS
    'Forgets a job with an action: deletes its plans, cancels its rows that were never sent, and keeps everything that was sent: removed, running (nothing was changed) or unknown.';

-- Roles that act already may call it before sql/roles.sql runs again. It is not open to PUBLIC.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT EXECUTE ON FUNCTION forget_actions(integer, text) TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT 'REVOKE EXECUTE ON FUNCTION forget_actions(integer, text) FROM PUBLIC'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
