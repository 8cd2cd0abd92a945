-- Do the totals equal a full computation?

-- The columns of a kept table, for a statement.
CREATE OR REPLACE FUNCTION kept_columns(kept regclass) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = kept AND attnum > 0 AND NOT attisdropped
$$;
COMMENT ON FUNCTION kept_columns IS 'Internal step of refresh_views().';

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

-- What the view shows while the table is empty: so a materialised view can be refreshed, or restored, by itself, too.
--
-- A function, because the planner would add the rows that the view may show to the rows of the table, and expect too many.
CREATE OR REPLACE FUNCTION unless_kept(kept anyelement) RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10000 SET search_path FROM CURRENT AS $$
DECLARE
    holder regclass := pg_typeof(kept)::text::regclass;
    holds  boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', holder) INTO holds;
    IF NOT holds THEN
        RETURN QUERY EXECUTE format('SELECT %s FROM %I', kept_columns(holder),
                                    (SELECT substr(relname, 6) FROM pg_class WHERE oid = holder));
    END IF;
END $$;
COMMENT ON FUNCTION unless_kept IS 'What a view shows, unless the table with kept_ before its name has it.';

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

REVOKE EXECUTE ON FUNCTION verify_views FROM PUBLIC;
