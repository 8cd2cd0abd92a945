-- How does a refresh add the changes of stored rows to the totals?

-- Adds to a table of totals what its view of changes shows. Returns whether anything changed. When everything is computed, the view
-- shows the totals themselves.
--
-- The table's only unique key has the columns by which the sums are grouped. The other bigint columns are sums.
-- The columns of type timestamptz have the first or the last time of their group.
CREATE OR REPLACE FUNCTION add_changes(totals regclass) RETURNS boolean LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_mergejoin = off SET search_path FROM CURRENT AS $$
DECLARE
    source    text := regexp_replace((SELECT relname FROM pg_class WHERE oid = totals), '_totals$', '_changes');
    columns   record;
    had_rows  bigint;
    differs   boolean;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ') FILTER (WHERE k.is_key) AS keys,
           string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS names,
           string_agg(CASE WHEN k.is_sum THEN format('coalesce(%1$I, 0) AS %1$I', a.attname) ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum) AS read,
           string_agg(CASE WHEN k.is_sum THEN format('%1$I = t.%1$I + excluded.%1$I', a.attname)
                           ELSE format('%1$I = %2$s(t.%1$I, excluded.%1$I)', a.attname,
                                       CASE WHEN a.attname LIKE 'first\_%' THEN 'least' ELSE 'greatest' END) END, ', ')
               FILTER (WHERE NOT k.is_key) AS changes,
           string_agg(CASE WHEN k.is_sum THEN format('coalesce(%I, 0) <> 0', a.attname) ELSE format('%I IS NOT NULL', a.attname) END, ' OR ')
               FILTER (WHERE NOT k.is_key) AS any_change,
           string_agg(format('coalesce(%I, 0) = 0', a.attname), ' AND ') FILTER (WHERE k.is_sum) AS no_sum
      INTO columns
      FROM pg_index x
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum > 0
      CROSS JOIN LATERAL (SELECT a.attnum = ANY (x.indkey::smallint[]) AS is_key) key
      CROSS JOIN LATERAL (SELECT is_key, NOT is_key AND a.atttypid = 'bigint'::regtype AS is_sum) k
     WHERE x.indrelid = totals AND x.indisunique;
    IF (SELECT is_rebuild FROM refresh_state) THEN
        -- PostgreSQL uses parallel workers for CREATE TABLE AS, but not for INSERT.
        EXECUTE format('CREATE TEMP TABLE counted ON COMMIT DROP AS SELECT %s FROM %I WHERE NOT (%s)', columns.read, source, columns.no_sum);
        differs := store_rows(totals, 'TABLE pg_temp.counted');
        DROP TABLE pg_temp.counted;
        RETURN differs;
    END IF;
    EXECUTE format('INSERT INTO %s AS t (%s) SELECT %s FROM %I WHERE %s ON CONFLICT (%s) DO UPDATE SET %s',
                   totals, columns.names, columns.read, source, columns.any_change, columns.keys, columns.changes);
    GET DIAGNOSTICS had_rows = ROW_COUNT;
    IF had_rows > 0 THEN
        EXECUTE format('DELETE FROM %s WHERE %s', totals, columns.no_sum);
    END IF;
    RETURN had_rows > 0;
END $$;
COMMENT ON FUNCTION add_changes IS
    'Adds what a view refresh_…_changes shows to its table refresh_…_totals, or replaces the totals in a full computation. Returns whether a row changed.';

-- Totals are brought up to date only if a row differs, because planning their statements takes longer than counting the changes of a night.
CREATE OR REPLACE FUNCTION count_changes(p_everything boolean) RETURNS text[] LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
    -- Totals of notifications, whose rows can be computed only after the new periods are stored.
    later   text[] := '{refresh_cancellation_totals,refresh_refund_request_totals,refresh_decision_time_totals}';
    totals  regclass;
BEGIN
    IF p_everything THEN
        -- Every stored row comes from a row of one of these tables; other tables only add columns to it. If they are empty, nothing is stored.
        IF NOT EXISTS (SELECT FROM transactions) AND NOT EXISTS (SELECT FROM notifications) AND NOT EXISTS (SELECT FROM action_rows)
           AND NOT EXISTS (SELECT FROM advanced_commerce_refunds) AND NOT EXISTS (SELECT FROM product_periods) THEN
            FOR totals IN
                SELECT oid FROM pg_class
                 WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^refresh_(stored_|.*_totals$)'
            LOOP
                EXECUTE format('DELETE FROM %s', totals);
            END LOOP;
            UPDATE refresh_state SET purchases = 0;
            RETURN changed;
        END IF;
    ELSE
        PERFORM read_ahead();
    END IF;
    PERFORM compute_periods(p_everything);
    PERFORM compute_transactions(p_everything);
    IF NOT p_everything THEN
        PERFORM take_rows_beside();
    END IF;
    IF p_everything
       OR EXISTS (SELECT FROM refresh_periods_changed) OR EXISTS (SELECT FROM refresh_transactions_changed) THEN
        INSERT INTO refresh_month_steps TABLE refresh_month_steps_to_store;
        ANALYZE refresh_month_steps;
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
            PERFORM store_changes('refresh_stored_periods', 'refresh_periods_changed');
            PERFORM store_changes('refresh_stored_transactions', 'refresh_transactions_changed');
            PERFORM renew_first_and_last();
        END IF;
    END IF;
    IF NOT p_everything THEN
        PERFORM add_changed_transactions();
        ANALYZE refresh_keys;
    END IF;
    PERFORM compute_cancellations(p_everything);
    PERFORM compute_refund_requests(p_everything);
    IF p_everything
       OR EXISTS (SELECT FROM refresh_cancellations_before) OR EXISTS (SELECT FROM refresh_cancellations_after)
       OR EXISTS (SELECT FROM refresh_refund_requests_before) OR EXISTS (SELECT FROM refresh_refund_requests_after) THEN
        FOREACH totals IN ARRAY later::regclass[] LOOP
            IF add_changes(totals) THEN
                changed := changed || totals::text;
            END IF;
        END LOOP;
    END IF;
    IF store_notification_days(p_everything) THEN
        changed := changed || 'refresh_stored_notification_days'::text;
    END IF;
    RETURN changed;
END $$;
COMMENT ON FUNCTION count_changes IS
    'Brings the tables refresh_stored_… and refresh_…_totals up to date for the keys in refresh_keys, or for everything, and returns those that changed.';
