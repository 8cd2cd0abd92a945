-- Which stored rows does a changed key concern?

-- Takes the marks in refresh_changed_keys, and the keys of stored rows whose due_at has passed: since that date they count differently.
--
-- Returns whether everything is to be computed: the caller wants it, nothing is stored yet, the last refresh ran while the clock was
-- ahead, a definition changed, or more than a quarter of the subscriptions and other purchases did.
CREATE OR REPLACE FUNCTION take_changed_keys(p_everything boolean) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    state refresh_state;
BEGIN
    SELECT * INTO state FROM refresh_state;
    IF p_everything OR state.as_of IS NULL OR state.as_of > now() OR state.definitions IS DISTINCT FROM refresh_definitions() THEN
        DELETE FROM refresh_changed_keys;
        RETURN true;
    END IF;
    WITH taken AS (
        DELETE FROM refresh_changed_keys RETURNING app_id, kind, key
    )
    INSERT INTO refresh_keys SELECT DISTINCT app_id, kind, key FROM taken;
    PERFORM resolve_keys();
    INSERT INTO refresh_keys
    SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM refresh_stored_periods WHERE due_at <= now()
    ON CONFLICT DO NOTHING;
    INSERT INTO refresh_keys
    SELECT DISTINCT app_id, 'day', day::text FROM refresh_stored_notification_days WHERE due_at <= now()
    ON CONFLICT DO NOTHING;
    RETURN (SELECT count(*) FROM refresh_keys WHERE kind = 'purchase') > state.purchases / 4;
END $$;
COMMENT ON FUNCTION take_changed_keys IS
    'Moves the marks of refresh_changed_keys to refresh_keys, adds the keys of refresh_stored_periods and refresh_stored_notification_days whose due_at has passed, and returns whether everything is to be computed.';

-- Adds the purchases and days that the other kinds of keys concern.
--
-- A key of the kind 'again' becomes a purchase only if a figure can change. It is left out if only the age of the renewal info or of the status
-- has changed.
CREATE OR REPLACE FUNCTION resolve_keys() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    last_as_of timestamptz := (SELECT as_of FROM refresh_state);
BEGIN
    ANALYZE refresh_keys;
    INSERT INTO refresh_keys
    SELECT t.app_id, 'purchase', coalesce(t.original_transaction_id, t.transaction_id)
      FROM refresh_keys k JOIN transactions t ON t.app_id = k.app_id AND t.transaction_id = k.key
     WHERE k.kind = 'transaction'
    ON CONFLICT DO NOTHING;
    INSERT INTO refresh_keys
    SELECT n.app_id, 'day', (n.signed_date AT TIME ZONE 'UTC')::date::text
      FROM refresh_keys k JOIN notifications n ON n.app_id = k.app_id AND n.notification_uuid = k.key
     WHERE k.kind = 'notification'
    ON CONFLICT DO NOTHING;
    INSERT INTO refresh_keys
    SELECT k.app_id, 'purchase', k.key
      FROM refresh_keys k
     WHERE k.kind = 'again'
       AND NOT EXISTS (
           SELECT FROM refresh_stored_periods p
             LEFT JOIN renewals_signed r ON r.app_id = p.app_id AND r.original_transaction_id = p.original_transaction_id
             LEFT JOIN subscription_statuses s ON s.app_id = p.app_id AND s.original_transaction_id = p.original_transaction_id
                  AND s.ended_at IS NULL
             JOIN transactions t ON t.app_id = p.app_id AND t.transaction_id = p.transaction_id
            WHERE p.app_id = k.app_id AND p.original_transaction_id = k.key AND p.is_last
              AND (r.last_signed_date IS NULL AND p.renewal_info_signed_date IS NULL
                   OR r.last_signed_date >= p.starts_at AND p.renewal_info_signed_date IS NOT NULL)
              AND p.is_in_billing_retry_period IS NOT TRUE
              AND p.reported_status IS NOT DISTINCT FROM
                  CASE WHEN coalesce(s.records_signed_date, s.asked_at) >= greatest(t.signed_date, r.last_signed_date) THEN s.status END
              -- The same status counted before, so only its age is another.
              AND (p.reported_status IS NULL
                   OR s.asked_at >= p.reported_at
                      AND p.reported_at >= greatest(p.starts_at, CASE WHEN p.revocation_date <= last_as_of THEN p.revocation_date END,
                                                    CASE WHEN p.expires_date <= last_as_of THEN p.expires_date END,
                                                    CASE WHEN p.grace_until <= last_as_of THEN p.grace_until END)
                      AND p.reported_at > last_as_of - interval '1440 hours')
           OFFSET 0)
    ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT FROM refresh_keys WHERE kind = 'product') THEN
        INSERT INTO refresh_keys
        SELECT DISTINCT s.app_id, 'purchase', s.original_transaction_id
          FROM refresh_keys k JOIN refresh_stored_periods s ON s.app_id = k.app_id AND s.product_id = k.key
         WHERE k.kind = 'product'
        ON CONFLICT DO NOTHING;
    END IF;
END $$;
COMMENT ON FUNCTION resolve_keys IS
    'Adds to refresh_keys the purchases and days that the transactions, notifications, products and repeated signatures in it concern.';
