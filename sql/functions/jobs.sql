-- What does `jobs remove` delete?

-- Which rejected records does a removed job take with it?
--
-- Its own, and those in Sandbox that `appStore.sandboxFallback` has brought. A job of the same name in Sandbox keeps its own. The
-- status of a job and `storeledger rejects` count by the same rule.
CREATE OR REPLACE FUNCTION forget_job(p_app_id integer, p_job text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
DECLARE
    apps_of_rejects integer[] := ARRAY(
        SELECT other.app_id FROM apps own JOIN apps other USING (bundle_id)
         WHERE own.app_id = p_app_id
           AND (other.app_id = own.app_id
             OR other.environment = 'Sandbox' AND NOT EXISTS (SELECT FROM runs r WHERE r.app_id = other.app_id AND r.job = p_job)));
BEGIN
    PERFORM FROM jobs j WHERE j.app_id = p_app_id AND j.job = p_job FOR UPDATE;
    IF NOT EXISTS (SELECT FROM runs r WHERE r.app_id = p_app_id AND r.job = p_job) THEN
        RETURN 'unknown';
    END IF;
    IF EXISTS (SELECT FROM crawl_items i WHERE i.app_id = p_app_id AND i.job = p_job AND i.state = 'leased'
                  AND i.claimable_at > clock_timestamp()) THEN
        RETURN 'running';
    END IF;
    UPDATE runs SET finished_at = clock_timestamp(), exit_code = 75, message = 'the job was removed'
     WHERE app_id = p_app_id AND job = p_job AND finished_at IS NULL;
    UPDATE runs SET job = p_job || ' (removed)' WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM quarantined_records q USING rejected_records r
     WHERE r.app_id = ANY (apps_of_rejects) AND r.job = p_job AND r.resolved_at IS NULL
       AND q.app_id = r.app_id AND q.record_id = r.record_id
       AND NOT EXISTS (SELECT FROM rejected_records o
                        WHERE o.app_id = r.app_id AND o.job <> p_job AND o.reason = r.reason AND o.identity = r.identity
                          AND o.resolved_at IS NULL);
    UPDATE rejected_records SET resolved_at = clock_timestamp(), dismissed_at = NULL
     WHERE app_id = ANY (apps_of_rejects) AND job = p_job AND resolved_at IS NULL;
    DELETE FROM coverage_gaps WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM crawl_items WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM planned_streams WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM jobs WHERE app_id = p_app_id AND job = p_job;
    RETURN 'removed';
END $$;
COMMENT ON FUNCTION forget_job IS
    'Forgets a job''s crawl state, gaps and counted rejects, and keeps every record: removed, running (nothing was changed) or unknown.';

-- A job that is forgotten loses the approval of its policy too.
CREATE OR REPLACE FUNCTION forget_actions(p_app_id integer, p_job text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
BEGIN
    PERFORM lock_approvals(p_app_id, p_job);
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
    PERFORM end_approvals(p_app_id, p_job, 'removed');
    UPDATE action_policy_approvals p SET withdrawn_at = clock_timestamp()
     WHERE p.app_id = p_app_id AND p.job = p_job AND p.withdrawn_at IS NULL;
    UPDATE action_batches b SET removed_at = clock_timestamp() WHERE b.app_id = p_app_id AND b.job = p_job AND b.removed_at IS NULL;
    RETURN 'removed';
END $$;
COMMENT ON FUNCTION forget_actions IS
    'Forgets a job with an action: deletes its plans, cancels its rows that were never sent, and keeps everything that was sent: removed, running (nothing was changed) or unknown.';

REVOKE EXECUTE ON FUNCTION forget_job, forget_actions FROM PUBLIC;
