-- How does a refresh compute the stored rows of the changed keys, and store those that differ?

-- Computes the periods of the changed subscriptions: refresh_periods_changed has the stored rows that are replaced or gone (sign -1), and the rows
-- that replace them or are new (sign 1). When everything is computed, it has all rows.
--
-- The usual period of a product is the length of most of its periods (usual_periods.sql). Any changed period can change it. Then all periods of
-- the product are computed again, because their MRR depends on it. This mostly happens when a product is new.
--
-- An erasure (next_as_of = as_of) leaves this to the next refresh. It takes only the marks of the erased customer, so it would not count the lengths
-- of other subscriptions that have changed.
CREATE OR REPLACE FUNCTION compute_periods(p_everything boolean) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    products text[];
BEGIN
    IF p_everything THEN
        IF NOT EXISTS (SELECT FROM refresh_stored_periods) THEN
            -- At the first refresh no usual period is known. If they were found later, every period would be stored twice.
            PERFORM store_rows('refresh_period_length_totals', $q$
                SELECT app_id, product_id, period_by_length, count(*) FROM subscription_periods
                 WHERE has_usual_length(product_id, period_by_length, is_extended, offer_type, offer_discount_type, billing_plan_type)
                 GROUP BY app_id, product_id, period_by_length
                $q$);
            PERFORM renew_product_periods();
        END IF;
        LOOP
            INSERT INTO refresh_periods_changed SELECT false, 1, (SELECT next_as_of FROM refresh_state), v.* FROM refresh_periods_to_store v;
            PERFORM renew_totals(true, '{refresh_period_length_totals}');
            EXIT WHEN renew_product_periods() = '{}';
            PERFORM empty_tables('refresh_periods_changed');
        END LOOP;
        PERFORM store_rows('refresh_stored_periods', format('SELECT %s FROM refresh_periods_changed', column_names('refresh_stored_periods')));
        ANALYZE refresh_stored_periods, refresh_periods_changed;
        RETURN;
    END IF;
    PERFORM take_periods();
    PERFORM add_changes('refresh_period_length_totals');
    IF (SELECT next_as_of <> as_of FROM refresh_state) THEN
        products := renew_product_periods();
    END IF;
    IF products <> '{}' THEN
        INSERT INTO refresh_keys
        SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM refresh_stored_periods
         WHERE app_id || ' ' || product_id = ANY (products)
        ON CONFLICT DO NOTHING;
        DELETE FROM refresh_periods_changed;
        PERFORM take_periods();
    END IF;
END $$;
COMMENT ON FUNCTION compute_periods IS
    'Compares the periods of the subscriptions in refresh_keys with refresh_stored_periods. Writes those that differ to refresh_periods_changed, and also refresh_period_length_totals and product_periods. A full computation writes all rows, also to refresh_stored_periods.';

-- As compute_periods, for transactions.
--
-- `(column IS NULL) IS TRUE`, here and below, is a condition that no index can answer. With `column IS NULL` and statistics from before the first
-- such row, the planner would read all of these rows for each key.
CREATE OR REPLACE FUNCTION compute_transactions(p_everything boolean) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_mergejoin = off AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_transactions_changed
        SELECT false, 1, t.*, coalesce(t.original_transaction_id, t.transaction_id) FROM refresh_transactions_to_store t;
        PERFORM store_rows('refresh_stored_transactions', format('SELECT %s FROM refresh_transactions_changed', column_names('refresh_stored_transactions')));
        UPDATE refresh_state
           SET purchases = (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM refresh_stored_transactions) p);
        ANALYZE refresh_stored_transactions, refresh_transactions_changed;
        RETURN;
    END IF;
    CREATE TEMP TABLE stored (LIKE refresh_stored_transactions) ON COMMIT DROP;
    INSERT INTO stored
    SELECT s.*
      FROM (SELECT app_id, key FROM refresh_keys WHERE kind = 'purchase' ORDER BY app_id, key) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_stored_transactions s WHERE s.app_id = k.app_id AND s.purchase_key = k.key OFFSET 0) s;
    CREATE TEMP TABLE computed (LIKE refresh_stored_transactions) ON COMMIT DROP;
    INSERT INTO computed
    SELECT t.*, k.key
      FROM (SELECT app_id, key FROM refresh_keys WHERE kind = 'purchase' ORDER BY app_id, key) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_transactions_to_store v
                           WHERE v.app_id = k.app_id AND v.original_transaction_id = k.key OFFSET 0) t
    UNION ALL
    SELECT t.*, k.key
      FROM (SELECT app_id, key FROM refresh_keys WHERE kind = 'purchase' ORDER BY app_id, key) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_transactions_to_store v
                           WHERE v.app_id = k.app_id AND v.transaction_id = k.key AND (v.original_transaction_id IS NULL) IS TRUE OFFSET 0) t;
    INSERT INTO refresh_transactions_changed
    SELECT false, -1, s.* FROM stored s
     WHERE NOT EXISTS (SELECT FROM computed c
                        WHERE (c.app_id, c.purchase_key, c.transaction_id) = (s.app_id, s.purchase_key, s.transaction_id) AND c *= s);
    INSERT INTO refresh_transactions_changed
    SELECT false, 1, c.* FROM computed c
     WHERE NOT EXISTS (SELECT FROM stored s
                        WHERE (s.app_id, s.purchase_key, s.transaction_id) = (c.app_id, c.purchase_key, c.transaction_id) AND s *= c);
    UPDATE refresh_state
       SET purchases = purchases
                     - (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM stored) s)
                     + (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM computed) c);
    DROP TABLE stored, computed;
END $$;
COMMENT ON FUNCTION compute_transactions IS
    'Compares the transactions of the purchases in refresh_keys with refresh_stored_transactions. Writes those that differ to refresh_transactions_changed. A full computation writes all rows, also to refresh_stored_transactions.';

CREATE OR REPLACE FUNCTION compute_cancellations(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        PERFORM store_rows('refresh_stored_cancellations', $q$
            SELECT app_id, coalesce(transaction_id, notification_uuid), day, product_id, storefront, currency, is_renewal_on, is_trial,
                   mrr_milliunits
              FROM refresh_cancellations_to_store
            $q$);
        RETURN;
    END IF;
    WITH taken AS (
        DELETE FROM refresh_stored_cancellations WHERE ctid = ANY (ARRAY(
            SELECT s.place
              FROM refresh_keys k
              CROSS JOIN LATERAL (SELECT s.ctid AS place FROM refresh_stored_cancellations s
                                   WHERE s.app_id = k.app_id AND s.transaction_key = k.key OFFSET 0) s
             WHERE k.kind = 'transaction'))
        RETURNING *
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
                           WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND (v.transaction_id IS NULL) IS TRUE OFFSET 0) c
     WHERE k.kind = 'transaction';
    INSERT INTO refresh_stored_cancellations SELECT * FROM refresh_cancellations_after;
END $$;
COMMENT ON FUNCTION compute_cancellations IS
    'Computes the cancellations of the transactions in refresh_keys again. Writes refresh_stored_cancellations, and the old and new rows to refresh_cancellations_before and refresh_cancellations_after.';

-- As compute_cancellations, for requests for a refund and for decisions without a request.
CREATE OR REPLACE FUNCTION compute_refund_requests(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        PERFORM store_rows('refresh_stored_refund_requests', $q$
            SELECT app_id, coalesce(transaction_id, notification_uuid), month, product_id, storefront, currency, is_request, outcome,
                   price_milliunits, delay
              FROM refresh_refund_requests_to_store
            $q$);
        RETURN;
    END IF;
    WITH taken AS (
        DELETE FROM refresh_stored_refund_requests WHERE ctid = ANY (ARRAY(
            SELECT s.place
              FROM refresh_keys k
              CROSS JOIN LATERAL (SELECT s.ctid AS place FROM refresh_stored_refund_requests s
                                   WHERE s.app_id = k.app_id AND s.transaction_key = k.key OFFSET 0) s
             WHERE k.kind = 'transaction'))
        RETURNING *
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
                           WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND (v.transaction_id IS NULL) IS TRUE OFFSET 0) r
     WHERE k.kind = 'transaction';
    INSERT INTO refresh_stored_refund_requests SELECT * FROM refresh_refund_requests_after;
END $$;
COMMENT ON FUNCTION compute_refund_requests IS
    'Computes the refund requests of the transactions in refresh_keys again. Writes refresh_stored_refund_requests, and the old and new rows to refresh_refund_requests_before and refresh_refund_requests_after.';

-- What notification_health_by_day shows of one day, as of the running refresh.
--
-- due_at is when the row changes by itself: when Apple's next attempt for a notification that is being retried is due.
CREATE OR REPLACE FUNCTION notification_days_of(p_app_id integer, p_day date) RETURNS SETOF refresh_stored_notification_days
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT
        app_id, p_day, notification_type,
        count(*),
        count(*) FILTER (WHERE state = 'delivered'),
        count(*) FILTER (WHERE state = 'delivered' AND failed_attempts = 0),
        count(*) FILTER (WHERE next_attempt_at > next_as_of),
        count(*) FILTER (WHERE next_attempt_at <= next_as_of),
        count(*) FILTER (WHERE state = 'never received'),
        count(*) FILTER (WHERE state = 'unknown'),
        sum(attempts)::bigint,
        sum(failed_attempts)::bigint,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_success),
        max(time_to_success),
        min(next_attempt_at) FILTER (WHERE next_attempt_at > next_as_of)
      FROM notification_deliveries
      CROSS JOIN refresh_state
      CROSS JOIN LATERAL (
          SELECT CASE WHEN state IN ('retrying', 'not known yet')
                      THEN last_attempt_at + (ARRAY[1, 12, 24, 48, 72])[attempts] * interval '1 hour' END AS next_attempt_at) a
     WHERE app_id = p_app_id
       AND signed_date >= p_day::timestamp AT TIME ZONE 'UTC' AND signed_date < (p_day + 1)::timestamp AT TIME ZONE 'UTC'
     GROUP BY app_id, notification_type
$$;
COMMENT ON FUNCTION notification_days_of IS
    'Returns the rows of notification_health_by_day of one day, from notification_deliveries.';

-- Computes the changed days of notification_health_by_day. Returns whether any changed.
CREATE OR REPLACE FUNCTION store_notification_days(p_everything boolean) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    removed bigint;
    added   bigint;
BEGIN
    IF p_everything THEN
        RETURN store_rows('refresh_stored_notification_days', $q$
            SELECT computed.*
              FROM (SELECT DISTINCT app_id, (signed_date AT TIME ZONE 'UTC')::date AS day FROM notifications) days
              CROSS JOIN LATERAL notification_days_of(days.app_id, days.day) computed
            $q$);
    END IF;
    DELETE FROM refresh_stored_notification_days s USING refresh_keys k
     WHERE k.kind = 'day' AND s.app_id = k.app_id AND s.day = k.key::date;
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO refresh_stored_notification_days
    SELECT computed.*
      FROM refresh_keys k
      CROSS JOIN LATERAL notification_days_of(k.app_id, k.key::date) computed
     WHERE k.kind = 'day';
    GET DIAGNOSTICS added = ROW_COUNT;
    RETURN removed + added > 0;
END $$;
COMMENT ON FUNCTION store_notification_days IS
    'Writes the days in refresh_keys, or all days, to refresh_stored_notification_days.';

-- Fills refresh_periods_changed.
--
-- In this file, OFFSET 0 makes PostgreSQL look up one key at a time, through an index. The keys are sorted, so that each page of an index is read
-- once.
CREATE OR REPLACE FUNCTION take_periods() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    ANALYZE refresh_keys;
    CREATE TEMP TABLE stored (LIKE refresh_stored_periods) ON COMMIT DROP;
    INSERT INTO stored
    SELECT s.*
      FROM (SELECT app_id, key FROM refresh_keys WHERE kind = 'purchase' ORDER BY app_id, key) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_stored_periods s
                           WHERE s.app_id = k.app_id AND s.original_transaction_id = k.key OFFSET 0) s;
    CREATE TEMP TABLE computed (LIKE refresh_stored_periods) ON COMMIT DROP;
    INSERT INTO computed
    SELECT p.*
      FROM (SELECT app_id, key FROM refresh_keys WHERE kind = 'purchase' ORDER BY app_id, key) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_periods_to_store v
                           WHERE v.app_id = k.app_id AND v.original_transaction_id = k.key OFFSET 0) p;
    -- *= compares rows as they are stored; see store_rows().
    INSERT INTO refresh_periods_changed
    SELECT false, -1, (SELECT as_of FROM refresh_state), s.* FROM stored s
     WHERE NOT EXISTS (SELECT FROM computed c
                        WHERE (c.app_id, c.original_transaction_id, c.period_number) = (s.app_id, s.original_transaction_id, s.period_number)
                          AND c *= s);
    INSERT INTO refresh_periods_changed
    SELECT false, 1, (SELECT next_as_of FROM refresh_state), c.* FROM computed c
     WHERE NOT EXISTS (SELECT FROM stored s
                        WHERE (s.app_id, s.original_transaction_id, s.period_number) = (c.app_id, c.original_transaction_id, c.period_number)
                          AND s *= c);
    DROP TABLE stored, computed;
END $$;
COMMENT ON FUNCTION take_periods IS
    'Reads refresh_periods_to_store and refresh_stored_periods for the subscriptions in refresh_keys. Writes the rows that differ to refresh_periods_changed.';

-- Adds stored rows that did not change, but that some totals need together with the rows that differ, on both sides (is_beside).
CREATE OR REPLACE FUNCTION take_rows_beside() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- The statistics describe the last refresh. With them, PostgreSQL could compare each row with every changed one.
    ANALYZE refresh_periods_changed, refresh_transactions_changed;
    -- The other periods of the same subscriptions, and the periods of changed refunds.
    INSERT INTO refresh_periods_changed
    SELECT true, side.sign, side.as_of, s.*
      FROM (SELECT app_id, original_transaction_id FROM refresh_changed_periods
            UNION SELECT app_id, original_transaction_id FROM refresh_changed_transactions WHERE is_refunded
            ORDER BY app_id, original_transaction_id) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_stored_periods s
                           WHERE s.app_id = k.app_id AND s.original_transaction_id = k.original_transaction_id OFFSET 0) s
      CROSS JOIN (SELECT -1 AS sign, as_of FROM refresh_state UNION ALL SELECT 1, next_as_of FROM refresh_state) side
     WHERE NOT EXISTS (SELECT FROM refresh_changed_periods b
                        WHERE b.sign = -1 AND (b.app_id, b.original_transaction_id, b.period_number) = (s.app_id, s.original_transaction_id, s.period_number));
    -- The other purchases of the same customers, and the refunds of changed subscriptions.
    INSERT INTO refresh_transactions_changed
    SELECT true, side.sign, s.*
      FROM (SELECT s.*
              FROM (SELECT DISTINCT app_id, customer_key FROM refresh_changed_transactions WHERE is_purchase ORDER BY app_id, customer_key) c
              CROSS JOIN LATERAL (SELECT * FROM refresh_stored_transactions s
                                   WHERE s.app_id = c.app_id AND s.customer_key = c.customer_key AND s.is_purchase OFFSET 0) s
            UNION
            SELECT s.*
              FROM (SELECT DISTINCT app_id, original_transaction_id FROM refresh_changed_periods ORDER BY app_id, original_transaction_id) k
              CROSS JOIN LATERAL (SELECT * FROM refresh_stored_transactions s
                                   WHERE s.app_id = k.app_id AND s.purchase_key = k.original_transaction_id AND s.is_refunded OFFSET 0) s) s
      CROSS JOIN (VALUES (-1), (1)) side (sign)
     WHERE NOT EXISTS (SELECT FROM refresh_changed_transactions b
                        WHERE b.sign = -1 AND (b.app_id, b.purchase_key, b.transaction_id) = (s.app_id, s.purchase_key, s.transaction_id));
    ANALYZE refresh_periods_changed, refresh_transactions_changed;
END $$;
COMMENT ON FUNCTION take_rows_beside IS
    'Reads refresh_stored_periods and refresh_stored_transactions. Adds rows that did not change, but that totals need with those that did, to refresh_periods_changed and refresh_transactions_changed.';

-- Adds the transactions whose notifications have to be counted again.
--
-- A cancellation or a refund request is counted under columns of the transaction or period that it names, such as the product, the storefront and
-- the MRR. So it is counted again if one of these columns changed.
CREATE OR REPLACE FUNCTION add_changed_transactions() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO refresh_keys
    SELECT app_id, 'transaction', transaction_id FROM refresh_changed_transactions
    UNION
    SELECT app_id, 'transaction', transaction_id
      FROM (SELECT sign, app_id, transaction_id, product_id, storefront, currency, is_trial, is_family_shared, mrr_milliunits
              FROM refresh_changed_periods) p
     GROUP BY app_id, transaction_id, product_id, storefront, currency, is_trial, is_family_shared, mrr_milliunits
    HAVING sum(sign) <> 0
    UNION
    -- A notification can name another transaction of the same purchase. It counts under the same period.
    SELECT p.app_id, 'transaction', t.transaction_id
      FROM (SELECT DISTINCT app_id, original_transaction_id, web_order_line_item_id, transaction_id FROM refresh_changed_periods
             ORDER BY app_id, original_transaction_id) p
      CROSS JOIN LATERAL (SELECT t.transaction_id FROM transactions t
                           WHERE t.app_id = p.app_id AND t.original_transaction_id = p.original_transaction_id
                             AND t.web_order_line_item_id = p.web_order_line_item_id AND t.transaction_id <> p.transaction_id OFFSET 0) t
    UNION
    -- A notification can name a transaction that is no separate purchase and has no stored row. It counts under the period of its purchase. If this
    -- transaction changed, it can belong to another period now.
    SELECT t.app_id, 'transaction', t.transaction_id
      FROM (SELECT app_id, key FROM refresh_keys WHERE kind = 'purchase' ORDER BY app_id, key) k
      CROSS JOIN LATERAL (SELECT * FROM transactions t
                           WHERE t.app_id = k.app_id AND t.original_transaction_id = k.key
                             AND NOT EXISTS (SELECT FROM refresh_stored_transactions s
                                              WHERE s.app_id = k.app_id AND s.purchase_key = k.key AND s.transaction_id = t.transaction_id)
                          OFFSET 0) t
    ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION add_changed_transactions IS
    'Adds to refresh_keys the transactions whose notifications have to be counted again, because a row in refresh_changed_periods or refresh_changed_transactions differs.';

-- Replaces the rows of a table with the rows of a query, which has the same columns in the same order. Returns whether any differed.
--
-- Only rows that differ are deleted and inserted. So readers see the old rows until COMMIT and do not wait, and neither do readers of a replica.
-- TRUNCATE, or a new table in the place of the old one, would lock readers out, and show no row to a session whose snapshot is older.
--
-- If the session has a table refresh_differences, the rows that differ are added to it; see verify_views().
CREATE OR REPLACE FUNCTION store_rows(p_table regclass, p_query text) RETURNS boolean
LANGUAGE plpgsql SET enable_mergejoin = off SET search_path FROM CURRENT AS $$
DECLARE
    is_empty boolean;
    added    bigint;
    -- How equal rows are found: by the primary key or, in a table without one, by a hash of the row. A number distinguishes equal rows
    -- of a table without a unique index.
    same     text;
    numbered text := '1';
    noted    text := '';
    differs  boolean;
BEGIN
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', p_table) INTO is_empty;
    IF is_empty AND to_regclass('pg_temp.refresh_differences') IS NULL THEN
        EXECUTE format('INSERT INTO %s %s', p_table, p_query);
        GET DIAGNOSTICS added = ROW_COUNT;
        RETURN added > 0;
    END IF;
    SELECT string_agg(format('(c.r).%1$I = (s.r).%1$I', a.attname), ' AND ') INTO same
      FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey::smallint[])
     WHERE x.indrelid = p_table AND x.indisprimary;
    IF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = p_table AND indisunique) THEN
        numbered := 'row_number() OVER (PARTITION BY r)';
    END IF;
    IF to_regclass('pg_temp.refresh_differences') IS NOT NULL THEN
        noted := format(', noted AS (INSERT INTO pg_temp.refresh_differences SELECT %L, to_jsonb(held), to_jsonb(r) FROM differing)',
                        (SELECT relname FROM pg_class WHERE oid = p_table));
    END IF;
    -- *= compares rows as they are stored. With = an interval of 30 days would equal an interval of a month.
    -- The old rows are deleted before the new ones are inserted, because both can have the same key.
    EXECUTE format($q$
        WITH computed AS MATERIALIZED (
            SELECT ROW(q.*)::%1$s AS r FROM (%3$s) q
        ), differing AS MATERIALIZED (
            SELECT s.place, s.r AS held, c.r
              FROM (SELECT r, %2$s AS number, r.ctid AS place FROM %1$s r) s
              FULL JOIN (SELECT r, %2$s AS number FROM computed) c ON %5$s AND c.number = s.number AND c.r *= s.r
             WHERE s.place IS NULL OR c.number IS NULL
        ), gone AS (
            DELETE FROM %1$s WHERE ctid IN (SELECT place FROM differing) RETURNING 1
        ), come AS (
            INSERT INTO %1$s SELECT (r).* FROM differing WHERE place IS NULL AND (SELECT count(*) FROM gone) >= 0
        )%4$s
        SELECT EXISTS (SELECT FROM differing)
        $q$, p_table, numbered, p_query, noted, coalesce(same, 'c.r = s.r')) INTO differs;
    RETURN differs;
END $$;
COMMENT ON FUNCTION store_rows IS
    'Replaces the rows of a table by the rows of a query. Writes only those that differ.';

-- The columns of a table, for a list of a statement.
CREATE OR REPLACE FUNCTION column_names(p_table regclass) RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = p_table AND attnum > 0 AND NOT attisdropped
$$;
COMMENT ON FUNCTION column_names IS 'Returns the names of the columns of a table, separated by commas.';

-- Replaces rows of a stored table: deletes the rows of sign -1 that are gone, and inserts or updates the rows of sign 1.
CREATE OR REPLACE FUNCTION store_changes(p_stored regclass, p_changed regclass) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    columns record;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ') FILTER (WHERE k.is_key) AS keys,
           string_agg(format('s.%1$I = gone.%1$I', a.attname), ' AND ') FILTER (WHERE k.is_key) AS same_keys,
           string_agg(format('%1$I = excluded.%1$I', a.attname), ', ') FILTER (WHERE NOT k.is_key) AS changes
      INTO columns
      FROM pg_index x
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum > 0
      CROSS JOIN LATERAL (SELECT a.attnum = ANY (x.indkey::smallint[]) AS is_key) k
     WHERE x.indrelid = p_stored AND x.indisprimary;
    EXECUTE format($q$
        DELETE FROM %1$s WHERE ctid = ANY (ARRAY(
            SELECT s.place
              FROM (SELECT %3$s FROM %2$s WHERE sign = -1 AND NOT is_beside EXCEPT SELECT %3$s FROM %2$s WHERE sign = 1 AND NOT is_beside) gone
              CROSS JOIN LATERAL (SELECT s.ctid AS place FROM %1$s s WHERE %4$s OFFSET 0) s))
        $q$, p_stored, p_changed, columns.keys, columns.same_keys);
    EXECUTE format('INSERT INTO %s SELECT %s FROM %s WHERE sign = 1 AND NOT is_beside ON CONFLICT (%s) DO UPDATE SET %s',
                   p_stored, column_names(p_stored), p_changed, columns.keys, columns.changes);
END $$;
COMMENT ON FUNCTION store_changes IS
    'Writes the rows of a table _changed to their stored table.';

-- Reads the records and stored rows of the changed subscriptions and purchases into memory.
--
-- The rows are on different pages of large tables. A bitmap scan requests many of these pages from the disk at once. Without it, the look-ups that
-- follow would wait for one page after the other. effective_io_concurrency is 0 where the operating system has no such requests.
--
-- The planner's statistics of the stored tables contain no IDs, so PostgreSQL expects that each key has a two-hundredth of the rows. In a statement with
-- hundreds of keys, it would read the whole table.
CREATE OR REPLACE FUNCTION read_ahead() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off AS $$
DECLARE
    batch record;
BEGIN
    IF current_setting('effective_io_concurrency') <> '0' THEN
        PERFORM set_config('effective_io_concurrency', '200', true);
    END IF;
    FOR batch IN
        SELECT app_id, array_agg(key) AS keys
          FROM (SELECT app_id, key, row_number() OVER (PARTITION BY app_id ORDER BY key) / 50 AS part FROM refresh_keys WHERE kind = 'purchase') k
         GROUP BY app_id, part ORDER BY app_id, part
    LOOP
        PERFORM count(t.signed_date) FROM transactions t WHERE t.app_id = batch.app_id AND t.original_transaction_id = ANY (batch.keys);
        PERFORM count(r.signed_date) FROM renewals r WHERE r.app_id = batch.app_id AND r.original_transaction_id = ANY (batch.keys);
        PERFORM count(n.signed_date) FROM notifications n WHERE n.app_id = batch.app_id AND n.original_transaction_id = ANY (batch.keys);
        PERFORM count(s.due_at) FROM refresh_stored_periods s WHERE s.app_id = batch.app_id AND s.original_transaction_id = ANY (batch.keys);
        PERFORM count(s.type) FROM refresh_stored_transactions s WHERE s.app_id = batch.app_id AND s.purchase_key = ANY (batch.keys);
    END LOOP;
END $$;
COMMENT ON FUNCTION read_ahead IS
    'Reads the records and stored rows of the purchases in refresh_keys into memory. Writes nothing.';

-- Finds the first and the last sale of a group again, if the transaction that was one of them is gone or has changed.
--
-- A new sale can only make the first one earlier or the last one later. add_changes() does that.
CREATE OR REPLACE FUNCTION renew_first_and_last() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE refresh_sale_totals t
       SET first_sold_at = (
               SELECT s.purchase_date FROM refresh_stored_transactions s
                WHERE s.is_purchase AND s.app_id = t.app_id AND s.purchase_date IS NOT NULL
                  AND refresh_sale_group(s.product_id, s.type, s.storefront, s.currency, s.list_price_milliunits, s.is_renewal)
                      = refresh_sale_group(t.product_id, t.type, t.storefront, t.currency, t.list_price_milliunits, t.is_renewal)
                  AND (s.product_id, s.type, s.storefront, s.currency, s.list_price_milliunits, s.is_renewal)
                      IS NOT DISTINCT FROM (t.product_id, t.type, t.storefront, t.currency, t.list_price_milliunits, t.is_renewal)
                ORDER BY s.purchase_date LIMIT 1),
           last_sold_at = (
               SELECT s.purchase_date FROM refresh_stored_transactions s
                WHERE s.is_purchase AND s.app_id = t.app_id AND s.purchase_date IS NOT NULL
                  AND refresh_sale_group(s.product_id, s.type, s.storefront, s.currency, s.list_price_milliunits, s.is_renewal)
                      = refresh_sale_group(t.product_id, t.type, t.storefront, t.currency, t.list_price_milliunits, t.is_renewal)
                  AND (s.product_id, s.type, s.storefront, s.currency, s.list_price_milliunits, s.is_renewal)
                      IS NOT DISTINCT FROM (t.product_id, t.type, t.storefront, t.currency, t.list_price_milliunits, t.is_renewal)
                ORDER BY s.purchase_date DESC LIMIT 1)
     WHERE EXISTS (
         SELECT FROM refresh_changed_transactions b
          WHERE b.sign = -1 AND b.is_purchase AND b.app_id = t.app_id AND b.purchase_date IN (t.first_sold_at, t.last_sold_at)
            AND refresh_sale_group(b.product_id, b.type, b.storefront, b.currency, b.list_price_milliunits, b.is_renewal)
                = refresh_sale_group(t.product_id, t.type, t.storefront, t.currency, t.list_price_milliunits, t.is_renewal));
END $$;
COMMENT ON FUNCTION renew_first_and_last IS
    'Finds first_sold_at and last_sold_at of refresh_sale_totals again in refresh_stored_transactions, if such a sale is in refresh_changed_transactions with sign -1.';

-- An index finds the sales of a group by this hash, because the columns of a group can be NULL and can be long.
CREATE OR REPLACE FUNCTION refresh_sale_group(product_id text, type text, storefront text, currency text, list_price_milliunits bigint, is_renewal boolean)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(coalesce(product_id, '') || ' ' || coalesce(type, '') || ' ' || coalesce(storefront, '') || ' ' || coalesce(currency, '')
                        || ' ' || coalesce(list_price_milliunits::text, '') || ' ' || coalesce(is_renewal::text, ''), 0);
COMMENT ON FUNCTION refresh_sale_group IS
    'Returns a hash of the columns by which sales are grouped. Reads only its parameters.';
CREATE INDEX IF NOT EXISTS refresh_stored_transactions_sales ON refresh_stored_transactions (app_id, refresh_sale_group(product_id, type, storefront, currency, list_price_milliunits, is_renewal), purchase_date) WHERE is_purchase;

-- The views for analysis that read one of the tables, themselves or through other views; in the order of their creation.
CREATE OR REPLACE FUNCTION views_over(p_tables text[]) RETURNS text[] LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
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
COMMENT ON FUNCTION views_over IS
    'Returns the views for analysis that read one of the tables, from the dependencies in the catalog.';
