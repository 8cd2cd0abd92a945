-- Do the totals equal a full computation?

-- Brings the totals up to date, then computes everything from every record. It returns a row for each difference between the two: the key, what was
-- shown and what is computed, as JSON; NULL where there is no row. It returns at most 100 differences for each view, and for each of four stored tables
-- (periods, transactions, cancellations, refund requests). The computed rows are stored, so the views are right afterwards.
--
-- Only rows that differ are written, so readers do not wait, and see the old figures until COMMIT.
CREATE OR REPLACE FUNCTION verify_views() RETURNS TABLE (view_name text, key text, shown text, computed text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET random_page_cost = 1.1 SET lock_timeout = '10min' AS $$
DECLARE
    compared record;
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    PERFORM refresh_views();
    FOR compared IN SELECT name FROM schema_views WHERE shows_last_refresh AND row_key IS NOT NULL LOOP
        EXECUTE format('CREATE TEMP TABLE %I ON COMMIT DROP AS TABLE %I', 'shown_' || compared.name, compared.name);
    END LOOP;
    CREATE TEMP TABLE refresh_differences (stored text, held jsonb, computed jsonb) ON COMMIT DROP;
    PERFORM refresh_views(everything => true);

    -- These columns are not compared. A refresh does not take a renewal info or status that Apple only gave again, so they can be older than the
    -- records.
    RETURN QUERY
    WITH side AS (
        SELECT stored, held - '{due_at,reported_at,renewal_info_signed_date}'::text[] AS row, true AS is_held
          FROM pg_temp.refresh_differences WHERE held IS NOT NULL
        UNION ALL
        SELECT d.stored, d.computed - '{due_at,reported_at,renewal_info_signed_date}'::text[], false
          FROM pg_temp.refresh_differences d WHERE d.computed IS NOT NULL
    ), keyed AS (
        SELECT s.stored, s.row, s.is_held, (SELECT jsonb_object_agg(name, s.row -> name) FROM unnest(k.columns) name) AS key
          FROM side s
          JOIN (VALUES ('refresh_stored_periods', '{app_id,original_transaction_id,period_number}'::text[]),
                       ('refresh_stored_transactions', '{app_id,transaction_id}'), ('refresh_stored_cancellations', '{app_id,transaction_key}'),
                       ('refresh_stored_refund_requests', '{app_id,transaction_key}')) k (stored, columns) USING (stored)
    ), difference AS (
        SELECT k.stored, k.key, min(k.row::text) FILTER (WHERE k.is_held) AS held, min(k.row::text) FILTER (WHERE NOT k.is_held) AS computed,
               row_number() OVER (PARTITION BY k.stored ORDER BY k.key) AS number
          FROM keyed k
         GROUP BY k.stored, k.key
        HAVING min(k.row::text) FILTER (WHERE k.is_held) IS DISTINCT FROM min(k.row::text) FILTER (WHERE NOT k.is_held)
    )
    SELECT d.stored, d.key::text, d.held, d.computed FROM difference d WHERE d.number <= 100 ORDER BY d.stored, d.key;

    FOR compared IN
        SELECT v.name, 'shown_' || v.name AS shown,
               (SELECT string_agg(format('%L, %I', k.name, k.name), ', ' ORDER BY k.place) FROM unnest(v.row_key) WITH ORDINALITY k (name, place)) AS keys
          FROM schema_views v WHERE v.shows_last_refresh AND v.row_key IS NOT NULL ORDER BY v.position
    LOOP
        RETURN QUERY EXECUTE format(
            $q$
            WITH shown AS (
                SELECT jsonb_build_object(%3$s) AS key, to_jsonb(d) AS row FROM (TABLE pg_temp.%2$I EXCEPT ALL TABLE %1$I) d
            ), computed AS (
                SELECT jsonb_build_object(%3$s) AS key, to_jsonb(d) AS row FROM (TABLE %1$I EXCEPT ALL TABLE pg_temp.%2$I) d
            )
            SELECT %1$L, key::text, s.row::text, c.row::text FROM shown s FULL JOIN computed c USING (key) ORDER BY key LIMIT 100
            $q$, compared.name, compared.shown, compared.keys);
    END LOOP;
END $$;
COMMENT ON FUNCTION verify_views IS
    'Computes the views of the last refresh again from every record, and returns the rows that were different.';

REVOKE EXECUTE ON FUNCTION verify_views FROM PUBLIC;
