-- Which rejected records does an operator no longer want to hear about, and how is a job forgotten?
--
-- Apple signs a record again for each answer, so the same record comes with other bytes every night. A dismissal therefore
-- covers the claimed identity of the record, in every job of the app, not only the stored text.
ALTER TABLE rejected_records ADD COLUMN identity bytea, ADD COLUMN dismissed_at timestamptz;
ALTER TABLE quarantined_records ADD COLUMN dismissed_at timestamptz;
COMMENT ON COLUMN quarantined_records.dismissed_at IS
    'When storeledger rejects dismissed a record with this identity; every later one is then dismissed as well. NULL otherwise.';
COMMENT ON COLUMN rejected_records.identity IS
    'SHA-256 of the kind and key that the record claims, as in quarantined_records. NULL for an erased customer, and for a record that an earlier version stored and that was not received again.';
COMMENT ON COLUMN rejected_records.dismissed_at IS
    'When storeledger rejects dismissed the record. It is then not counted any more, even if a run receives it again. NULL otherwise.';
COMMENT ON COLUMN rejected_records.resolved_at IS
    'When a replay loaded the record, or when its job was removed. NULL while it is rejected.';
UPDATE rejected_records r SET identity = q.identity
  FROM quarantined_records q WHERE q.app_id = r.app_id AND q.record_id = r.record_id;

-- Forgets a job: its items with their cursors, its gaps, and its rejected records as far as they are counted.
--
-- Records stay, and so do the runs that loaded them, under the name "NAME (removed)": no job file can have that name. A
-- rejected record that a new job of the same name receives again counts again. Only the owner may delete items, so the
-- function has the owner's rights.
CREATE FUNCTION forget_job(p_app_id integer, p_job text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
DECLARE
    same_bundle integer[] := ARRAY(SELECT a.app_id FROM apps own JOIN apps a USING (bundle_id) WHERE own.app_id = p_app_id);
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
     WHERE r.app_id = ANY (same_bundle) AND r.job = p_job AND r.resolved_at IS NULL
       AND q.app_id = r.app_id AND q.record_id = r.record_id
       AND NOT EXISTS (SELECT FROM rejected_records o
                        WHERE o.app_id = r.app_id AND o.job <> p_job AND o.reason = r.reason AND o.identity = r.identity
                          AND o.resolved_at IS NULL);
    UPDATE rejected_records SET resolved_at = clock_timestamp(), dismissed_at = NULL
     WHERE app_id = ANY (same_bundle) AND job = p_job AND resolved_at IS NULL;
    DELETE FROM coverage_gaps WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM crawl_items WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM planned_streams WHERE app_id = p_app_id AND job = p_job;
    DELETE FROM jobs WHERE app_id = p_app_id AND job = p_job;
    RETURN 'removed';
END $$;
COMMENT ON FUNCTION forget_job IS
    'Forgets a job''s crawl state, gaps and counted rejects, and keeps every record: removed, running (nothing was changed) or unknown.';
COMMENT ON COLUMN runs.job IS 'The name in the job file; "NAME (removed)" after storeledger jobs remove NAME.';

-- Roles that load already may call it before sql/roles.sql runs again. It is not open to PUBLIC.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT EXECUTE ON FUNCTION forget_job(integer, text) TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'runs'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT 'REVOKE EXECUTE ON FUNCTION forget_job(integer, text) FROM PUBLIC'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
