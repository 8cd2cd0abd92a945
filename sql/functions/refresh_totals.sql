-- How does a refresh add the changes of stored rows to the totals?

-- How statements read a view of changes and write its table of totals.
--
-- The table's only unique key has the columns by which the sums are grouped. The other bigint columns are sums.
-- The columns of type timestamptz have the first or the last time of their group.
--
-- A refresh calls the function for each table of totals. A function in PL/pgSQL plans its query once in a session, one in SQL at each call.
CREATE OR REPLACE FUNCTION totals_clauses(totals regclass, OUT source text, OUT keys text, OUT names text, OUT read text, OUT changes text,
                                          OUT any_change text, OUT no_sum text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan SET search_path FROM CURRENT AS $$
BEGIN
    SELECT regexp_replace((SELECT relname FROM pg_class WHERE oid = totals), '_totals$', '_changes'),
           string_agg(quote_ident(a.attname), ', ') FILTER (WHERE k.is_key),
           string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
           string_agg(CASE WHEN k.is_sum THEN format('coalesce(%1$I, 0) AS %1$I', a.attname) ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum),
           string_agg(CASE WHEN k.is_sum THEN format('%1$I = t.%1$I + excluded.%1$I', a.attname)
                           ELSE format('%1$I = %2$s(t.%1$I, excluded.%1$I)', a.attname,
                                       CASE WHEN a.attname LIKE 'first\_%' THEN 'least' ELSE 'greatest' END) END, ', ')
               FILTER (WHERE NOT k.is_key),
           string_agg(CASE WHEN k.is_sum THEN format('coalesce(%I, 0) <> 0', a.attname) ELSE format('%I IS NOT NULL', a.attname) END, ' OR ')
               FILTER (WHERE NOT k.is_key),
           string_agg(format('coalesce(%I, 0) = 0', a.attname), ' AND ') FILTER (WHERE k.is_sum)
      INTO source, keys, names, read, changes, any_change, no_sum
      FROM pg_index x
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum > 0
      CROSS JOIN LATERAL (SELECT a.attnum = ANY (x.indkey::smallint[]) AS is_key) key
      CROSS JOIN LATERAL (SELECT is_key, NOT is_key AND a.atttypid = 'bigint'::regtype AS is_sum) k
     WHERE x.indrelid = totals AND x.indisunique;
END $$;
COMMENT ON FUNCTION totals_clauses IS
    'Returns the name of the view refresh_…_changes of a table refresh_…_totals, and parts of the statements that read one and write the other.';

-- Adds to a table of totals what its view of changes shows, and removes rows that no longer count anything. Returns whether anything changed.
CREATE OR REPLACE FUNCTION add_changes(totals regclass) RETURNS boolean LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET search_path FROM CURRENT AS $$
DECLARE
    clauses   record;
    has_rows  boolean;
    emptied   tid[];
BEGIN
    SELECT * INTO clauses FROM totals_clauses(totals);
    EXECUTE format($q$
        WITH written AS (
            INSERT INTO %s AS t (%s) SELECT %s FROM %I WHERE %s ON CONFLICT (%s) DO UPDATE SET %s
            RETURNING ctid AS place, %s AS is_empty
        )
        SELECT count(*) > 0, array_agg(place) FILTER (WHERE is_empty) FROM written
        $q$, totals, clauses.names, clauses.read, clauses.source, clauses.any_change, clauses.keys, clauses.changes, clauses.no_sum)
       INTO has_rows, emptied;
    IF emptied IS NOT NULL THEN
        EXECUTE format('DELETE FROM %s WHERE ctid = ANY ($1)', totals) USING emptied;
    END IF;
    RETURN has_rows;
END $$;
COMMENT ON FUNCTION add_changes IS
    'Adds what a view refresh_…_changes shows to its table refresh_…_totals. Returns whether a row changed.';

-- How many parallel workers compute tables of totals when everything is computed.
--
-- None in a ledger whose transactions PostgreSQL would not read with workers.
CREATE OR REPLACE FUNCTION refresh_workers() RETURNS integer LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    -- A table without partitions has no tree.
    SELECT CASE WHEN coalesce(sum(pg_relation_size(relid)), pg_relation_size('transactions')) >= pg_size_bytes(current_setting('min_parallel_table_scan_size'))
                THEN current_setting('max_parallel_workers_per_gather')::integer ELSE 0 END
      FROM pg_partition_tree('transactions')
$$;
COMMENT ON FUNCTION refresh_workers IS
    'Returns how many parallel workers a full computation uses, from the settings of PostgreSQL and the size of transactions.';

-- The query for the rows that a table of totals has when everything is computed. The view of changes then shows the totals themselves.
CREATE OR REPLACE FUNCTION totals_query(totals regclass) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN (SELECT format('SELECT %s FROM %I WHERE NOT (%s)', c.read, c.source, c.no_sum) FROM totals_clauses(totals) c);
END $$;
COMMENT ON FUNCTION totals_query IS
    'Returns the query that computes the rows of a table refresh_…_totals from every record. It reads the view refresh_…_changes of the table.';

-- Returns the rows of totals_query() as text.
--
-- The high cost lets PostgreSQL compute several tables at the same time; see renew_totals().
CREATE OR REPLACE FUNCTION computed_totals(totals regclass) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000000 SET enable_mergejoin = off SET search_path FROM CURRENT AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT ROW(q.*)::%s::text FROM (%s) q', totals, totals_query(totals));
END $$;
COMMENT ON FUNCTION computed_totals IS 'Returns the rows of a table refresh_…_totals as text, computed from every record.';

-- Brings tables of totals up to date. Returns those that changed.
--
-- When everything is computed with parallel workers, PostgreSQL runs the branches of a UNION ALL in them. It does that for CREATE TABLE AS, and not for
-- INSERT. Workers send rows of one type, so the rows of all tables are sent as text.
CREATE OR REPLACE FUNCTION renew_totals(p_everything boolean, p_tables regclass[]) RETURNS text[]
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
    setting text := current_setting('max_parallel_workers_per_gather');
    workers integer := CASE WHEN p_everything THEN refresh_workers() ELSE 0 END;
    totals  regclass;
    differs boolean;
BEGIN
    IF workers > 0 THEN
        PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
        EXECUTE 'CREATE TEMP TABLE counted ON COMMIT DROP AS '
                || (SELECT string_agg(format('SELECT %1$L::regclass AS totals, row FROM computed_totals(%1$L) row', name), ' UNION ALL ')
                      FROM unnest(p_tables) name);
        PERFORM set_config('max_parallel_workers_per_gather', setting, true);
    END IF;
    FOREACH totals IN ARRAY p_tables LOOP
        IF workers > 0 THEN
            differs := store_rows(totals, format(
                'SELECT (q.row).* FROM (SELECT row::%1$s AS row FROM pg_temp.counted WHERE totals = %1$L::regclass OFFSET 0) q', totals));
        ELSIF p_everything THEN
            differs := store_rows(totals, totals_query(totals));
        ELSE
            differs := add_changes(totals);
        END IF;
        IF differs THEN
            changed := changed || totals::text;
        END IF;
    END LOOP;
    IF workers > 0 THEN
        DROP TABLE pg_temp.counted;
    END IF;
    RETURN changed;
END $$;
COMMENT ON FUNCTION renew_totals IS
    'Brings the named tables refresh_…_totals up to date, and returns the names of those that changed.';

-- Totals are brought up to date only if a row differs, because planning their statements takes longer than counting the changes of a night.
--
-- A merge join helps only when everything is computed. For changed rows, PostgreSQL could join by app_id alone, and compare each row with every row of
-- its app.
CREATE OR REPLACE FUNCTION count_changes(p_everything boolean) RETURNS text[]
LANGUAGE plpgsql SET enable_mergejoin = off SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
    -- Totals of notifications, whose rows can be computed only after the new periods are stored.
    later   text[] := '{refresh_cancellation_totals,refresh_refund_request_totals,refresh_decision_time_totals}';
    totals  regclass;
BEGIN
    IF p_everything THEN
        PERFORM set_config('enable_mergejoin', 'on', true);
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
        changed := renew_totals(p_everything, ARRAY(
            SELECT oid::regclass FROM pg_class
             WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname LIKE 'refresh\_%\_totals'
               AND relname <> 'refresh_period_length_totals' AND relname <> ALL (later)
             ORDER BY relname));
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
        changed := changed || renew_totals(p_everything, later::regclass[]);
    END IF;
    IF store_notification_days(p_everything) THEN
        changed := changed || 'refresh_stored_notification_days'::text;
    END IF;
    RETURN changed;
END $$;
COMMENT ON FUNCTION count_changes IS
    'Brings the tables refresh_stored_… and refresh_…_totals up to date for the keys in refresh_keys, or for everything, and returns those that changed.';
