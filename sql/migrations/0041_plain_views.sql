-- How do the views read the totals of the last refresh, instead of rows that a refresh copies?
--
-- The views that show sums were materialised. They read tables of totals, which is fast, so they are ordinary views now. A
-- refresh ends with the totals: it need not compute each view, compare it with its stored rows and write the difference.
-- An erasure is visible in the views at once.
--
-- migrate creates the views and grants their privileges again.

-- view_freshness keeps its privileges until migrate creates it again.
DO $$
BEGIN
    IF to_regclass('view_freshness') IS NOT NULL THEN
        CREATE OR REPLACE VIEW view_freshness AS
        SELECT name AS view, applied_at AS refreshed_at, NULL::bigint AS refresh_milliseconds, NULL::bigint AS row_count FROM schema_views;
    END IF;
END $$;
ALTER TABLE schema_views
    DROP COLUMN IF EXISTS is_materialized, DROP COLUMN IF EXISTS refreshed_at, DROP COLUMN IF EXISTS refresh_milliseconds,
    DROP COLUMN IF EXISTS row_count,
    ADD COLUMN IF NOT EXISTS shows_last_refresh boolean NOT NULL DEFAULT false, ADD COLUMN IF NOT EXISTS row_key text[];
COMMENT ON COLUMN schema_views.shows_last_refresh IS 'Whether the view shows the ledger as of the last refresh, because it reads totals, itself or through other views.';
COMMENT ON COLUMN schema_views.row_key IS 'The columns that identify a row. NULL if the view''s file does not name them.';

ALTER TABLE refresh_state DROP COLUMN unshown, ADD COLUMN milliseconds bigint;
COMMENT ON COLUMN refresh_state.milliseconds IS 'The duration of the last refresh, in milliseconds.';
COMMENT ON COLUMN refresh_state.definitions IS
    'A hash of the definitions that they were computed with. If it is another, or NULL, the next refresh computes everything again. NULL, too, after a difference was found.';
UPDATE refresh_state SET definitions = NULL;

-- Renewal info that is gone can change the figures of its subscription, as a new row can.
CREATE OR REPLACE FUNCTION log_changed_signatures() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'purchase', record_key FROM old_rows WHERE kind = 'renewalInfo';
    ELSE
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'again', record_key FROM new_rows WHERE kind = 'renewalInfo';
    END IF;
    RETURN NULL;
END $$;

-- Cancellations and refund requests get totals, because a view that reads their rows costs more with every month.
ALTER TABLE refresh_stored_cancellations DROP COLUMN notification_uuid;
ALTER TABLE refresh_stored_refund_requests DROP COLUMN notification_uuid;
CREATE UNLOGGED TABLE refresh_cancellations_before (LIKE refresh_stored_cancellations);
CREATE UNLOGGED TABLE refresh_cancellations_after (LIKE refresh_stored_cancellations);
CREATE UNLOGGED TABLE refresh_refund_requests_before (LIKE refresh_stored_refund_requests);
CREATE UNLOGGED TABLE refresh_refund_requests_after (LIKE refresh_stored_refund_requests);
CREATE TABLE refresh_cancellation_totals (
    app_id integer NOT NULL, day date, product_id text, storefront text, currency text, cancelled bigint NOT NULL,
    cancelled_trials bigint NOT NULL, resumed bigint NOT NULL, resumed_trials bigint NOT NULL,
    cancelled_mrr_milliunits bigint NOT NULL, resumed_mrr_milliunits bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront, currency)
);
CREATE TABLE refresh_refund_request_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, currency text, requests bigint NOT NULL,
    refunded bigint NOT NULL, declined bigint NOT NULL, reversed bigint NOT NULL, pending bigint NOT NULL,
    requested_milliunits bigint NOT NULL, refunded_without_request bigint NOT NULL, declined_without_request bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);
CREATE TABLE refresh_decision_time_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, currency text, delay interval,
    requests bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency, delay)
);
DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT c.oid::regclass AS name, c.relname, a.attname, a.attnum
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND c.relname ~ '^refresh_((cancellation|refund_request|decision_time)_totals|(cancellations|refund_requests)_(before|after))$'
    LOOP
        IF made.attnum = 1 THEN
            EXECUTE format('COMMENT ON TABLE %s IS %L', made.name, CASE
                WHEN made.relname LIKE 'refresh\_%\_totals' THEN 'Sums that views show, as of the last refresh; internal to refresh_views().'
                ELSE 'Empty except during a refresh; internal to refresh_views().' END);
        END IF;
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', made.name, made.attname,
                       'Internal to refresh_views(); the view that fills the table says what it means.');
        IF made.attname = 'transaction_key' THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', made.name, made.attname);
        END IF;
    END LOOP;
END $$;

-- migrate creates the views after this file, so PostgreSQL cannot check the functions yet.
SET LOCAL check_function_bodies = off;

-- As in 0026, without the time that it took.
CREATE OR REPLACE FUNCTION keep_for_refresh(source text) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    kept  regclass := ('kept_' || source)::regclass;
    fill  text := format('INSERT INTO %s SELECT %s FROM (%s) v', kept, kept_columns(kept),
                         regexp_replace(rtrim(pg_get_viewdef(source::regclass), ';'), '\msubscription_periods\M', 'kept_subscription_periods', 'g'));
BEGIN
    EXECUTE fill;
    IF source = 'subscription_periods' AND keep_product_periods() THEN
        EXECUTE format('DELETE FROM %s', kept);
        EXECUTE fill;
    END IF;
    EXECUTE format('ANALYZE %s', kept);
END $$;
COMMENT ON FUNCTION keep_for_refresh IS 'A part of verify_views().';

-- As in 0040, with totals of cancellations and of requests for a refund.
CREATE OR REPLACE FUNCTION count_changes(p_everything boolean) RETURNS text[]
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
    -- Their rows can be computed only when the periods are stored.
    later   text[] := '{refresh_cancellation_totals,refresh_refund_request_totals,refresh_decision_time_totals}';
    totals  regclass;
BEGIN
    IF p_everything THEN
        PERFORM empty_tables(VARIADIC array_agg(relname::text))
           FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname ~ '^refresh_(stored_|.*_totals$)';
        UPDATE refresh_state SET is_rebuild = true;
    END IF;
    PERFORM compute_periods(p_everything);
    PERFORM compute_transactions(p_everything);
    FOR totals IN
        SELECT oid FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname LIKE 'refresh\_%\_totals'
           AND relname <> 'refresh_period_length_totals' AND relname <> ALL (later)
         ORDER BY relname
    LOOP
        IF add_changes(totals) THEN
            changed := changed || totals::text;
        END IF;
    END LOOP;

    IF NOT p_everything THEN
        INSERT INTO refresh_stored_periods SELECT * FROM refresh_periods_after;
        INSERT INTO refresh_stored_transactions SELECT * FROM refresh_transactions_after;
        PERFORM renew_first_and_last();
        PERFORM add_changed_transactions();
        ANALYZE refresh_keys;
    END IF;
    PERFORM compute_cancellations(p_everything);
    PERFORM compute_refund_requests(p_everything);
    FOREACH totals IN ARRAY later::regclass[] LOOP
        IF add_changes(totals) THEN
            changed := changed || totals::text;
        END IF;
    END LOOP;
    IF store_notification_days(p_everything) THEN
        changed := changed || 'refresh_stored_notification_days'::text;
    END IF;
    RETURN changed;
END $$;
COMMENT ON FUNCTION count_changes IS 'A part of refresh_views().';

-- As compute_periods, for notifications that auto-renewal was turned off or on. It stores the new rows itself: their
-- totals read refresh_cancellations_before and …_after alone.
CREATE FUNCTION compute_cancellations(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_cancellations
        SELECT app_id, coalesce(transaction_id, notification_uuid), day, product_id, storefront, currency, is_renewal_on, is_trial,
               mrr_milliunits
          FROM refresh_cancellations_to_store;
        RETURN;
    END IF;
    WITH taken AS (
        DELETE FROM refresh_stored_cancellations s USING refresh_keys k
         WHERE k.kind = 'transaction' AND s.app_id = k.app_id AND s.transaction_key = k.key
        RETURNING s.*
    )
    INSERT INTO refresh_cancellations_before SELECT * FROM taken;
    INSERT INTO refresh_cancellations_after
    SELECT c.app_id, k.key, c.day, c.product_id, c.storefront, c.currency, c.is_renewal_on, c.is_trial, c.mrr_milliunits
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_cancellations_to_store v
                           WHERE v.app_id = k.app_id AND v.transaction_id = k.key OFFSET 0) c
     WHERE k.kind = 'transaction'
    UNION ALL
    SELECT c.app_id, k.key, c.day, c.product_id, c.storefront, c.currency, c.is_renewal_on, c.is_trial, c.mrr_milliunits
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_cancellations_to_store v
                           WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND v.transaction_id IS NULL OFFSET 0) c
     WHERE k.kind = 'transaction';
    INSERT INTO refresh_stored_cancellations SELECT * FROM refresh_cancellations_after;
END $$;
COMMENT ON FUNCTION compute_cancellations IS 'A part of refresh_views().';

-- As compute_cancellations, for requests for a refund and for decisions without a request.
CREATE FUNCTION compute_refund_requests(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_refund_requests
        SELECT app_id, coalesce(transaction_id, notification_uuid), month, product_id, storefront, currency, is_request, outcome,
               price_milliunits, delay
          FROM refresh_refund_requests_to_store;
        RETURN;
    END IF;
    WITH taken AS (
        DELETE FROM refresh_stored_refund_requests s USING refresh_keys k
         WHERE k.kind = 'transaction' AND s.app_id = k.app_id AND s.transaction_key = k.key
        RETURNING s.*
    )
    INSERT INTO refresh_refund_requests_before SELECT * FROM taken;
    INSERT INTO refresh_refund_requests_after
    SELECT r.app_id, k.key, r.month, r.product_id, r.storefront, r.currency, r.is_request, r.outcome, r.price_milliunits, r.delay
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_refund_requests_to_store v
                           WHERE v.app_id = k.app_id AND v.transaction_id = k.key OFFSET 0) r
     WHERE k.kind = 'transaction'
    UNION ALL
    SELECT r.app_id, k.key, r.month, r.product_id, r.storefront, r.currency, r.is_request, r.outcome, r.price_milliunits, r.delay
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_refund_requests_to_store v
                           WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND v.transaction_id IS NULL OFFSET 0) r
     WHERE k.kind = 'transaction';
    INSERT INTO refresh_stored_refund_requests SELECT * FROM refresh_refund_requests_after;
END $$;
COMMENT ON FUNCTION compute_refund_requests IS 'A part of refresh_views().';

-- Computes the changed days of notification_health_by_day. Returns whether any changed.
CREATE FUNCTION store_notification_days(p_everything boolean) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    removed bigint;
    added   bigint;
BEGIN
    DELETE FROM refresh_stored_notification_days s USING refresh_keys k
     WHERE k.kind = 'day' AND s.app_id = k.app_id AND s.day = k.key::date;
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO refresh_stored_notification_days
    SELECT computed.*
      FROM (SELECT app_id, (signed_date AT TIME ZONE 'UTC')::date AS day FROM notifications WHERE p_everything
            UNION
            SELECT app_id, key::date FROM refresh_keys WHERE kind = 'day' AND NOT p_everything) days
      CROSS JOIN LATERAL notification_days_of(days.app_id, days.day) computed;
    GET DIAGNOSTICS added = ROW_COUNT;
    RETURN removed + added > 0;
END $$;
COMMENT ON FUNCTION store_notification_days IS 'A part of refresh_views().';
DROP FUNCTION store_notifications;

-- As in 0040. A subscription marked again is added also if its renewal info is of another period than before, or gone,
-- or if Apple's answer is older than the one that counted.
CREATE OR REPLACE FUNCTION resolve_keys() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
              -- The status counted before, so that only its age changed.
              AND (p.reported_status IS NULL
                   OR s.asked_at >= p.reported_at
                      AND p.reported_at >= greatest(p.starts_at, CASE WHEN p.revocation_date <= p.as_of THEN p.revocation_date END,
                                                    CASE WHEN p.expires_date <= p.as_of THEN p.expires_date END,
                                                    CASE WHEN p.grace_until <= p.as_of THEN p.grace_until END)
                      AND p.reported_at > p.as_of - interval '60 days'))
    ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT FROM refresh_keys WHERE kind = 'product') THEN
        INSERT INTO refresh_keys
        SELECT DISTINCT s.app_id, 'purchase', s.original_transaction_id
          FROM refresh_keys k JOIN refresh_stored_periods s ON s.app_id = k.app_id AND s.product_id = k.key
         WHERE k.kind = 'product'
        ON CONFLICT DO NOTHING;
    END IF;
END $$;
COMMENT ON FUNCTION resolve_keys IS 'A part of refresh_views().';

CREATE OR REPLACE FUNCTION empty_refresh_tables() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT empty_tables('refresh_keys', 'refresh_periods_before', 'refresh_periods_after', 'refresh_transactions_before', 'refresh_transactions_after',
                        'refresh_transactions_beside', 'refresh_cancellations_before', 'refresh_cancellations_after',
                        'refresh_refund_requests_before', 'refresh_refund_requests_after')
$$;
COMMENT ON FUNCTION empty_refresh_tables IS 'A part of refresh_views().';

-- Brings the totals up to date that the views read.
--
-- Readers see the old totals until the caller's COMMIT. A second caller waits. A caller that wants the snapshot to be newer
-- than the lock takes the lock before, as the first statement of a REPEATABLE READ transaction. everything: compute
-- from every record. only_if_redefined: do nothing unless nothing was computed yet or a definition changed, as after a
-- migration.
--
-- Returns one row: whether everything was computed, the number of subscriptions and other purchases that were, the views
-- whose figures may have changed, and the duration.
CREATE TEMP TABLE roles_that_refresh ON COMMIT DROP AS
SELECT DISTINCT pg_get_userbyid(a.grantee) AS name
  FROM pg_proc p, aclexplode(p.proacl) a
 WHERE p.oid = 'refresh_views(boolean, boolean)'::regprocedure AND a.grantee <> p.proowner AND a.grantee <> 0;
DROP FUNCTION refresh_views(boolean, boolean);
CREATE FUNCTION refresh_views(everything boolean DEFAULT false, only_if_redefined boolean DEFAULT false)
RETURNS TABLE (is_everything boolean, purchases bigint, changed_views text[], milliseconds bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET lock_timeout = '10min' AS $$
DECLARE
    began   timestamptz := clock_timestamp();
    changed text[];
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    IF only_if_redefined AND (SELECT definitions = refresh_definitions() FROM refresh_state) THEN
        RETURN;
    END IF;
    is_everything := take_changed_keys(everything);
    changed := count_changes(is_everything);
    purchases := CASE WHEN is_everything THEN (SELECT s.purchases FROM refresh_state s)
                      ELSE (SELECT count(*) FROM refresh_keys WHERE kind = 'purchase') END;
    PERFORM empty_refresh_tables();
    changed_views := views_over(changed);
    milliseconds := extract(epoch FROM clock_timestamp() - began) * 1000;
    UPDATE refresh_state s
       SET as_of = now(), definitions = refresh_definitions(), is_rebuild = false, milliseconds = refresh_views.milliseconds;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION refresh_views IS
    'Brings the totals up to date that the views read, for a role that does not own them. With everything, computes all from every record.';

-- The views for analysis that read one of the tables, themselves or through other views; in the order of their creation.
CREATE FUNCTION views_over(p_tables text[]) RETURNS text[] LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    WITH RECURSIVE above (oid) AS (
        SELECT c.oid FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (p_tables)
        UNION
        SELECT r.ev_class
          FROM above a
          JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.oid AND d.classid = 'pg_rewrite'::regclass
          JOIN pg_rewrite r ON r.oid = d.objid
    )
    SELECT coalesce(array_agg(v.name ORDER BY v.position), '{}')
      FROM above a JOIN pg_class c USING (oid) JOIN schema_views v ON v.name = c.relname
     WHERE v.shows_last_refresh
$$;
COMMENT ON FUNCTION views_over IS 'A part of refresh_views().';

-- Whether a refresh would change anything: a record changed, a date passed, or a new day began.
CREATE OR REPLACE FUNCTION views_are_stale() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM refresh_changed_keys WHERE kind <> 'again')
        OR EXISTS (SELECT FROM refresh_state
                    WHERE as_of IS NULL OR (as_of AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date
                       OR definitions IS DISTINCT FROM refresh_definitions())
        OR EXISTS (SELECT FROM refresh_stored_periods WHERE due_at <= now())
        OR EXISTS (SELECT FROM refresh_stored_notification_days WHERE due_at <= now())
$$;
COMMENT ON FUNCTION views_are_stale IS 'Whether a refresh of the views would change anything.';

-- Takes the records that this transaction removed out of the stored rows and the totals, and removes the marks of
-- their keys.
--
-- An erasure calls it at its end, so that no internal table names the customer any more. p_ids are the customer's
-- IDs. It does not wait for a refresh that is running: then the next refresh does all this.
CREATE OR REPLACE FUNCTION forget_erased(p_app_id integer, p_ids text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off AS $$
BEGIN
    BEGIN
        LOCK TABLE refresh_lock IN EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN;
    END;
    WITH taken AS (
        DELETE FROM refresh_changed_keys WHERE written_by = pg_current_xact_id() OR app_id = p_app_id AND key = ANY (p_ids)
        RETURNING app_id, kind, key
    )
    INSERT INTO refresh_keys SELECT DISTINCT app_id, kind, key FROM taken;
    IF (SELECT as_of IS NOT NULL FROM refresh_state) THEN
        PERFORM resolve_keys();
        PERFORM count_changes(false);
    END IF;
    PERFORM empty_refresh_tables();
END $$;
COMMENT ON FUNCTION forget_erased IS 'Takes what the running erasure removed out of the stored rows and totals; for a role that erases.';

-- Brings the totals up to date, and compares the views with what the views …_from_scratch compute, in the snapshot of
-- the caller's transaction.
--
-- Returns a row for each difference, at most 100 for each view: the key, what is shown and what is computed, as JSON;
-- NULL where there is no row. The stored rows are compared, too. If there is a difference, the next refresh computes
-- everything again.
CREATE OR REPLACE FUNCTION verify_views() RETURNS TABLE (view_name text, key text, shown text, computed text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET lock_timeout = '10min' AS $$
DECLARE
    compared record;
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    PERFORM refresh_views();
    PERFORM keep_for_refresh('subscription_periods');
    PERFORM keep_for_refresh('subscription_months');
    PERFORM keep_for_refresh('current_subscriptions');
    PERFORM keep_for_refresh('purchases');
    FOR compared IN
        WITH compared (name, source, position, row_key) AS (
            SELECT v.name, 'refresh_' || v.name || '_from_scratch', v.position, v.row_key FROM schema_views v
             WHERE to_regclass(quote_ident('refresh_' || v.name || '_from_scratch')) IS NOT NULL
            UNION ALL
            VALUES ('refresh_stored_periods', 'refresh_periods_to_store', -2, '{app_id,original_transaction_id,period_number}'::text[]),
                   ('refresh_stored_transactions', 'refresh_transactions_to_store', -1, '{app_id,transaction_id}')
        )
        SELECT c.name, c.source, columns.names,
               (SELECT string_agg(format('%L, %I', name, name), ', ' ORDER BY place) FROM unnest(c.row_key) WITH ORDINALITY k (name, place)) AS keys
          FROM compared c
          CROSS JOIN LATERAL (
              SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names
                FROM pg_attribute
               WHERE attrelid = c.name::regclass AND attnum > 0 AND attname NOT IN ('as_of', 'due_at', 'purchase_key', 'reported_at', 'renewal_info_signed_date')) columns
         ORDER BY c.position
    LOOP
        RETURN QUERY EXECUTE format(
            $q$
            WITH shown AS (
                SELECT jsonb_build_object(%4$s) AS key, to_jsonb(d) AS row
                  FROM (SELECT %3$s FROM %1$I EXCEPT ALL SELECT %3$s FROM %2$I) d
            ), computed AS (
                SELECT jsonb_build_object(%4$s) AS key, to_jsonb(d) AS row
                  FROM (SELECT %3$s FROM %2$I EXCEPT ALL SELECT %3$s FROM %1$I) d
            )
            SELECT %1$L, key::text, s.row::text, c.row::text FROM shown s FULL JOIN computed c USING (key) ORDER BY key LIMIT 100
            $q$, compared.name, compared.source, compared.names, compared.keys);
        IF FOUND THEN
            UPDATE refresh_state SET definitions = NULL;
        END IF;
    END LOOP;
    PERFORM empty_tables('kept_subscription_periods', 'kept_subscription_months', 'kept_current_subscriptions', 'kept_purchases');
END $$;
COMMENT ON FUNCTION verify_views IS
    'Compares the views of the last refresh with a computation from every record, and returns the differences. After a difference, the next refresh computes everything again.';

RESET check_function_bodies;

-- As at the end of 0040.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND c.relname LIKE 'refresh\_%'
        UNION ALL
        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure)
          FROM pg_proc
         WHERE pronamespace = current_schema()::regnamespace AND prosecdef
        UNION ALL
        SELECT format('GRANT EXECUTE ON FUNCTION refresh_views(boolean, boolean) TO %I', name)
          FROM roles_that_refresh
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
