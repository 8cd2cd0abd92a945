-- Which old rows may the retention of a job remove?
--
-- TimeZone is UTC where a term in days is subtracted, because the length of a day depends on it.

-- The key after which the next call for a part begins. Another process that works on the same part waits until the transaction ends.
CREATE OR REPLACE FUNCTION retention_place(p_app_id integer, p_part text) RETURNS text[] LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    found_place text[];
BEGIN
    INSERT INTO retention_progress (app_id, part) VALUES (p_app_id, p_part) ON CONFLICT DO NOTHING;
    SELECT r.place INTO found_place FROM retention_progress r WHERE r.app_id = p_app_id AND r.part = p_part FOR UPDATE;
    RETURN found_place;
END $$;
COMMENT ON FUNCTION retention_place IS 'Internal step of remove_old_payloads() and remove_old_attempts().';

-- Whether the send attempt is older than the cutoff and not the last one of its notification.
CREATE OR REPLACE FUNCTION is_superseded_attempt(p_app_id integer, p_notification_uuid text, p_attempt_date timestamptz, p_cutoff timestamptz)
RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT p_attempt_date < p_cutoff
       AND EXISTS (SELECT FROM notification_send_attempts a
                    WHERE a.app_id = p_app_id AND a.notification_uuid = p_notification_uuid AND a.attempt_date > p_attempt_date)
$$;
COMMENT ON FUNCTION is_superseded_attempt IS 'Returns whether a send attempt is older than the cutoff and not the last one of its notification.';

-- Whether a newer payload of the same record makes this one dispensable.
--
-- The age of a payload counts from the newest signature of its content. A replay must bring back every row as it is now, so the
-- payload of a row stays, and so does the newest payload of each record, and the newest that refund history returned.
CREATE OR REPLACE FUNCTION is_superseded_payload(
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
    'Returns whether a payload of the archive is older than the cutoff, and neither the newest of its record nor the payload of a stored row.';

-- The items that superseded runs left behind, and that no later run has taken over: the job does not list them any more.
--
-- Finished items stay: their cursors and coverage are valid in any later run.
CREATE OR REPLACE FUNCTION superseded_items(p_app_id integer, p_job text, p_cutoff timestamptz)
RETURNS TABLE (stream text, item_key text, bytes integer) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT i.stream, i.item_key, pg_column_size(i.*)
      FROM runs r JOIN crawl_items i ON i.app_id = r.app_id AND i.job = r.job AND i.run_id = r.run_id AND i.state IN ('failed', 'superseded')
     WHERE r.app_id = p_app_id AND r.job = p_job AND r.exit_code = 75 AND r.finished_at < p_cutoff
$$;
COMMENT ON FUNCTION superseded_items IS 'Returns the unfinished items of superseded runs that ended before the cutoff.';

-- Removes old send attempts among the next p_rows. The term is at least a day.
CREATE OR REPLACE FUNCTION remove_old_attempts(p_app_id integer, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET TimeZone = 'UTC' AS $$
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

-- Removes old payloads among the next p_rows of the archive, with their latest signatures.
--
-- The term is at least a day. bytes is the stored size of the payloads and signatures.
CREATE OR REPLACE FUNCTION remove_old_payloads(
    p_app_id integer, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET TimeZone = 'UTC' AS $$
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

-- The moment before which received notifications can be removed: all of them were normalised, Apple no longer serves their days, and
-- reconcile has the last result of their days, if it was ever used.
--
-- The newest one before the cutoff stays. It shows since when the receiver works: without it, a notification that was lost
-- before the next receipt would seem older than the receiver.
CREATE OR REPLACE FUNCTION received_retention_limit(p_app_id integer, p_cutoff timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
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
CREATE OR REPLACE FUNCTION remove_old_received(p_app_id integer, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET TimeZone = 'UTC' AS $$
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

-- Removes up to p_rows items that superseded runs left behind. The term, at least a day, counts from the end of their run.
CREATE OR REPLACE FUNCTION remove_superseded_items(
    p_app_id integer, p_job text, p_term interval, p_rows integer, OUT removed bigint, OUT bytes bigint, OUT is_end boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET TimeZone = 'UTC' AS $$
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

REVOKE EXECUTE ON FUNCTION remove_old_attempts, remove_old_payloads, received_retention_limit, remove_old_received, remove_superseded_items FROM PUBLIC;
