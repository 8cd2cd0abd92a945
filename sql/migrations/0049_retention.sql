-- Which stored records may a job with a retention term remove?
--
-- Nothing is removed by itself: storeledger run calls these functions at the end of a complete run whose job file has the key
-- retention. Each call is a short transaction over a part of a table, in the order of its primary key. Rows that another session
-- has locked are left for the next time, so that no writer waits and none is waited for.
--
-- A call begins where the last one ended, also after a kill; at the end of the table the next call begins at its beginning again.
CREATE TABLE retention_progress (
    app_id integer NOT NULL REFERENCES apps,
    part text NOT NULL CHECK (part IN ('archive', 'sendAttempts')),
    place text[] NOT NULL DEFAULT '{"", ""}',
    PRIMARY KEY (app_id, part)
);
COMMENT ON TABLE retention_progress IS 'How far the removal of old records has come; a row for each app and key of the section retention.';
COMMENT ON COLUMN retention_progress.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN retention_progress.part IS 'The key of the job file: archive (signed_payloads) or sendAttempts (notification_send_attempts).';
COMMENT ON COLUMN retention_progress.place IS 'The key after which the next call begins; empty texts at the beginning of the table.';
ALTER TABLE retention_progress ALTER COLUMN place SET STATISTICS 0;

-- Whether a newer payload of the same record makes this one dispensable.
--
-- The age of a payload is that of the newest signature of its content. A replay must bring back every row as it is now, so the
-- payload of a row stays, and so does the newest payload of each record, and the newest that refund history returned.
CREATE FUNCTION is_superseded_payload(
    p_app_id integer, p_kind text, p_record_key text, p_signed_date timestamptz, p_payload_sha256 bytea, p_is_refund boolean,
    p_cutoff timestamptz
) RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    WITH this (signed_date) AS (
        SELECT coalesce((SELECT l.signed_date FROM latest_signatures l
                          WHERE l.app_id = p_app_id AND l.kind = p_kind AND l.record_key = p_record_key
                            AND l.first_payload_sha256 = p_payload_sha256), p_signed_date)
    )
    SELECT this.signed_date < p_cutoff
       AND EXISTS (SELECT FROM signed_payloads p LEFT JOIN latest_signatures l
                       ON l.app_id = p.app_id AND l.kind = p.kind AND l.record_key = p.record_key AND l.first_payload_sha256 = p.payload_sha256
                    WHERE p.app_id = p_app_id AND p.kind = p_kind AND p.record_key = p_record_key AND p.is_refund >= p_is_refund
                      AND (coalesce(l.signed_date, p.signed_date), p.payload_sha256) > (this.signed_date, p_payload_sha256))
       AND NOT EXISTS (SELECT FROM transactions t WHERE p_kind = 'transaction' AND t.app_id = p_app_id
                          AND t.transaction_id = p_record_key AND t.payload_sha256 = p_payload_sha256)
       AND NOT EXISTS (SELECT FROM refunds t WHERE p_kind = 'transaction' AND t.app_id = p_app_id
                          AND t.transaction_id = p_record_key AND t.payload_sha256 = p_payload_sha256)
       AND NOT EXISTS (SELECT FROM renewals t WHERE p_kind = 'renewalInfo' AND t.app_id = p_app_id
                          AND t.original_transaction_id = p_record_key AND t.payload_sha256 = p_payload_sha256)
       AND NOT EXISTS (SELECT FROM notifications t WHERE p_kind = 'notification' AND t.app_id = p_app_id
                          AND t.notification_uuid = p_record_key AND t.payload_sha256 = p_payload_sha256)
       AND NOT EXISTS (SELECT FROM app_transactions t WHERE p_kind = 'appTransaction' AND t.app_id = p_app_id
                          AND t.app_transaction_id = p_record_key AND t.payload_sha256 = p_payload_sha256)
      FROM this
$$;
COMMENT ON FUNCTION is_superseded_payload IS
    'Returns whether a payload of the archive is older than the cutoff, and neither the newest of its record nor that of a stored row.';

-- Whether the send attempt is older than the cutoff and not the last one of its notification.
CREATE FUNCTION is_superseded_attempt(p_app_id integer, p_notification_uuid text, p_attempt_date timestamptz, p_cutoff timestamptz)
RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT p_attempt_date < p_cutoff
       AND EXISTS (SELECT FROM notification_send_attempts a
                    WHERE a.app_id = p_app_id AND a.notification_uuid = p_notification_uuid AND a.attempt_date > p_attempt_date)
$$;
COMMENT ON FUNCTION is_superseded_attempt IS 'Returns whether a send attempt is older than the cutoff and not the last one of its notification.';

-- The key after which the next call for a part begins. Another process that works on the same part waits until the transaction ends.
CREATE FUNCTION retention_place(p_app_id integer, p_part text) RETURNS text[] LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    found_place text[];
BEGIN
    INSERT INTO retention_progress (app_id, part) VALUES (p_app_id, p_part) ON CONFLICT DO NOTHING;
    SELECT r.place INTO found_place FROM retention_progress r WHERE r.app_id = p_app_id AND r.part = p_part FOR UPDATE;
    RETURN found_place;
END $$;
COMMENT ON FUNCTION retention_place IS 'Internal step of remove_old_payloads() and remove_old_attempts().';

-- Removes old payloads among the next p_rows of the archive, with their latest signatures.
--
-- The term is at least a day. bytes are those of the payloads and signatures, as they are stored.
CREATE FUNCTION remove_old_payloads(
    p_app_id integer, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    cutoff   timestamptz := now() - greatest(p_term, interval '1 day');
    place    text[] := retention_place(p_app_id, 'archive');
    last_one text[];
BEGIN
    SELECT ARRAY[p.kind, p.record_key] INTO last_one FROM signed_payloads p
     WHERE p.app_id = p_app_id AND (p.kind, p.record_key) > (place[1], place[2])
     ORDER BY p.kind, p.record_key OFFSET p_rows - 1 LIMIT 1;
    is_end := last_one IS NULL;
    WITH old AS MATERIALIZED (
        SELECT p.kind, p.record_key, p.signed_date, p.payload_sha256 FROM signed_payloads p
         WHERE p.app_id = p_app_id AND (p.kind, p.record_key) > (place[1], place[2])
           AND (is_end OR (p.kind, p.record_key) <= (last_one[1], last_one[2])) AND p.signed_date < cutoff
           AND is_superseded_payload(p.app_id, p.kind, p.record_key, p.signed_date, p.payload_sha256, p.is_refund, cutoff)
         ORDER BY p.kind, p.record_key, p.signed_date, p.payload_sha256 FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM signed_payloads p USING old o
         WHERE p.app_id = p_app_id AND p.kind = o.kind AND p.record_key = o.record_key AND p.signed_date = o.signed_date
           AND p.payload_sha256 = o.payload_sha256
        RETURNING p.kind, p.record_key, p.payload_sha256, pg_column_size(p.payload) + pg_column_size(p.signature) AS bytes
    ), signatures AS (
        DELETE FROM latest_signatures l USING gone g
         WHERE l.app_id = p_app_id AND l.kind = g.kind AND l.record_key = g.record_key AND l.first_payload_sha256 = g.payload_sha256
    )
    SELECT count(*), coalesce(sum(g.bytes), 0) INTO removed, bytes FROM gone g;
    UPDATE retention_progress r SET place = coalesce(last_one, '{"", ""}') WHERE r.app_id = p_app_id AND r.part = 'archive';
END $$;
COMMENT ON FUNCTION remove_old_payloads IS 'Removes old payloads from the next rows of the archive; for a role that may not delete rows.';

-- Removes old send attempts among the next p_rows. The term is at least a day.
CREATE FUNCTION remove_old_attempts(p_app_id integer, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    cutoff   timestamptz := now() - greatest(p_term, interval '1 day');
    place    text[] := retention_place(p_app_id, 'sendAttempts');
    last_one text;
BEGIN
    SELECT a.notification_uuid INTO last_one FROM notification_send_attempts a
     WHERE a.app_id = p_app_id AND a.notification_uuid > place[1] ORDER BY a.notification_uuid OFFSET p_rows - 1 LIMIT 1;
    is_end := last_one IS NULL;
    WITH old AS MATERIALIZED (
        SELECT a.notification_uuid, a.attempt_date FROM notification_send_attempts a
         WHERE a.app_id = p_app_id AND a.notification_uuid > place[1] AND (is_end OR a.notification_uuid <= last_one)
           AND is_superseded_attempt(a.app_id, a.notification_uuid, a.attempt_date, cutoff)
         ORDER BY a.notification_uuid, a.attempt_date FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM notification_send_attempts a USING old o
         WHERE a.app_id = p_app_id AND a.notification_uuid = o.notification_uuid AND a.attempt_date = o.attempt_date
        RETURNING pg_column_size(a.*) AS bytes
    )
    SELECT count(*), coalesce(sum(g.bytes), 0) INTO removed, bytes FROM gone g;
    UPDATE retention_progress r SET place = ARRAY[coalesce(last_one, ''), ''] WHERE r.app_id = p_app_id AND r.part = 'sendAttempts';
END $$;
COMMENT ON FUNCTION remove_old_attempts IS 'Removes old send attempts from the next rows; for a role that may not delete rows.';

-- The items that superseded runs left behind, and that no later run has taken over: the job does not list them any more.
--
-- Finished items stay: their cursors and coverage are valid in any later run.
CREATE FUNCTION superseded_items(p_app_id integer, p_job text, p_cutoff timestamptz)
RETURNS TABLE (stream text, item_key text, bytes integer) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT i.stream, i.item_key, pg_column_size(i.*)
      FROM runs r JOIN crawl_items i ON i.app_id = r.app_id AND i.job = r.job AND i.run_id = r.run_id AND i.state = 'failed'
     WHERE r.app_id = p_app_id AND r.job = p_job AND r.exit_code = 75 AND r.finished_at < p_cutoff
$$;
COMMENT ON FUNCTION superseded_items IS 'Returns the unfinished items of superseded runs that ended before the cutoff.';

-- Removes up to p_rows items that superseded runs left behind. The term, at least a day, counts from the end of their run.
CREATE FUNCTION remove_superseded_items(
    p_app_id integer, p_job text, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    WITH old AS MATERIALIZED (
        SELECT i.stream, i.item_key, i.run_id FROM superseded_items(p_app_id, p_job, now() - greatest(p_term, interval '1 day')) s
          JOIN crawl_items i ON i.app_id = p_app_id AND i.job = p_job AND i.stream = s.stream AND i.item_key = s.item_key
         ORDER BY i.stream, i.item_key LIMIT p_rows FOR UPDATE OF i SKIP LOCKED
    ), gone AS (
        DELETE FROM crawl_items i USING old o
         WHERE i.app_id = p_app_id AND i.job = p_job AND i.stream = o.stream AND i.item_key = o.item_key AND i.run_id = o.run_id
        RETURNING pg_column_size(i.*) AS bytes
    )
    SELECT count(*), coalesce(sum(g.bytes), 0) INTO removed, bytes FROM gone g;
    is_end := removed < p_rows;
END $$;
COMMENT ON FUNCTION remove_superseded_items IS 'Removes items that superseded runs left behind; for a role that may not delete rows.';

-- The table belongs to the ledger's owner. Roles that load may call the functions before sql/roles.sql runs again; PUBLIC may not.
-- An erasure forgets the places, because a place is a key.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE retention_progress OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'retention_progress'::regclass
        UNION ALL
        SELECT format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, pg_get_userbyid(runs.relowner))
          FROM pg_proc p JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> p.proowner
         WHERE p.pronamespace = runs.relnamespace AND p.proname IN ('remove_old_payloads', 'remove_old_attempts', 'remove_superseded_items')
        UNION ALL
        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure) FROM pg_proc p
         WHERE p.pronamespace = current_schema()::regnamespace
           AND p.proname IN ('remove_old_payloads', 'remove_old_attempts', 'remove_superseded_items')
        UNION ALL
        SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, loader.name)
          FROM pg_proc p,
               (SELECT DISTINCT pg_get_userbyid(a.grantee) AS name FROM pg_class c, aclexplode(c.relacl) a
                 WHERE c.oid = 'runs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner AND a.grantee <> 0) loader
         WHERE p.pronamespace = current_schema()::regnamespace
           AND p.proname IN ('remove_old_payloads', 'remove_old_attempts', 'remove_superseded_items', 'is_superseded_payload',
                             'is_superseded_attempt', 'superseded_items')
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT, DELETE ON retention_progress TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'transactions'::regclass AND a.privilege_type = 'DELETE' AND a.grantee <> c.relowner AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
