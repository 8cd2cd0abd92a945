-- How does a refresh avoid work for rows that are the same as before?
--
-- 1. It looks up the stored rows of each changed subscription or purchase through an index. PostgreSQL used to read a whole
--    table, because it has no statistics of IDs.
-- 2. It compares the stored rows with the new ones, and writes and counts only those that differ. The others of the same
--    subscriptions and customers are in refresh_…_beside, for totals that need all of them.
-- 3. A stored period has what totals need of the periods before and after it, so that most totals need only that row.
-- 4. refresh_sale_totals replaces refresh_product_price_totals. If the first or last sale of a group is gone, an index finds
--    the next one.
--
-- Stored rows count as of refresh_state.as_of, all of them: a row with a date since then is due (due_at). A column of each
-- row is not needed.
--
-- migrate creates the views and grants their privileges again, then everything is computed.

-- Two views read tables that change. They keep their columns and privileges until migrate creates them again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('CREATE OR REPLACE VIEW %s AS SELECT %s', c.oid::regclass,
                      string_agg(format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum))
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v' AND c.relname IN ('product_prices', 'product_summary')
         GROUP BY c.oid
        UNION ALL
        SELECT 'DROP VIEW ' || string_agg(oid::regclass::text, ', ')
          FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'v' AND relname ~ '^refresh_(changed_|.*_(changes|to_store)$)'
        HAVING count(*) > 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;

ALTER TABLE refresh_state ADD COLUMN next_as_of timestamptz;
COMMENT ON COLUMN refresh_state.next_as_of IS 'The time as of which the running refresh or erasure counts new rows.';
UPDATE refresh_state SET definitions = NULL;

DROP TABLE refresh_stored_periods, refresh_periods_before, refresh_periods_after;
-- Space in each page, so that a row that changes stays in its page, beside the others of its subscription.
CREATE TABLE refresh_stored_periods (
    app_id integer NOT NULL, original_transaction_id text NOT NULL, period_number bigint NOT NULL, transaction_id text NOT NULL,
    product_id text, storefront text, currency text, price_milliunits bigint, transaction_reason text, offer_type integer,
    offer_identifier text, offer_discount_type text, billing_plan_type text, is_trial boolean, is_family_shared boolean,
    is_paid boolean, starts_at timestamptz, expires_date timestamptz, ends_at timestamptz, grace_until timestamptz,
    ended_by text, revocation_date timestamptz, next_starts_at timestamptz, is_last boolean, period text,
    mrr_milliunits bigint, estimated_upgrade_refund_milliunits bigint, first_paid_at timestamptz, is_extended boolean,
    period_by_length text, payment_number bigint, is_continued boolean, is_renewed boolean, next_product_id text,
    next_storefront text, is_after_trial boolean, previous_is_trial boolean, is_after_gap boolean, is_same_offer boolean,
    next_is_renewal boolean, payments_so_far bigint, is_paid_later boolean, is_after_a_year boolean, has_failed boolean,
    next_recovered_at timestamptz, expiry_reason text, auto_renew_status integer, expiration_intent integer,
    is_in_billing_retry_period boolean, renewal_info_signed_date timestamptz, reported_status integer, reported_at timestamptz,
    due_at timestamptz,
    PRIMARY KEY (app_id, original_transaction_id, period_number)
) WITH (fillfactor = 90);
CREATE INDEX refresh_stored_periods_due_at ON refresh_stored_periods (due_at) WHERE due_at IS NOT NULL;
CREATE UNLOGGED TABLE refresh_periods_before (LIKE refresh_stored_periods);
CREATE UNLOGGED TABLE refresh_periods_after (LIKE refresh_stored_periods);
CREATE UNLOGGED TABLE refresh_periods_beside (LIKE refresh_stored_periods);

-- Sales are found by a hash of their group, because the columns of a group can be NULL and are long.
CREATE FUNCTION refresh_sale_group(product_id text, type text, storefront text, currency text, list_price_milliunits bigint, is_renewal boolean)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(coalesce(product_id, '') || ' ' || coalesce(type, '') || ' ' || coalesce(storefront, '') || ' ' || coalesce(currency, '')
                        || ' ' || coalesce(list_price_milliunits::text, '') || ' ' || coalesce(is_renewal::text, ''), 0);
COMMENT ON FUNCTION refresh_sale_group IS 'A part of refresh_views().';
DROP TABLE refresh_stored_transactions;
CREATE TABLE refresh_stored_transactions (
    app_id integer NOT NULL, original_transaction_id text, transaction_id text NOT NULL, is_purchase boolean NOT NULL,
    customer_key text, purchase_date timestamptz, product_id text, type text, storefront text, currency text,
    quantity integer, price_milliunits bigint, is_paid boolean, is_refunded boolean, refund_date timestamptz,
    refund_reason integer, refunded_milliunits bigint, net_milliunits bigint, list_price_milliunits bigint,
    is_renewal boolean, in_app_ownership_type text, revocation_date timestamptz, purchase_key text NOT NULL,
    PRIMARY KEY (app_id, purchase_key, transaction_id)
) WITH (fillfactor = 90);
CREATE INDEX refresh_stored_transactions_customer_key ON refresh_stored_transactions (app_id, customer_key) WHERE is_purchase;
CREATE INDEX refresh_stored_transactions_sales ON refresh_stored_transactions (
    app_id, refresh_sale_group(product_id, type, storefront, currency, list_price_milliunits, is_renewal), purchase_date) WHERE is_purchase;
DROP TABLE refresh_product_price_totals, refresh_product_totals;
CREATE TABLE refresh_product_totals (
    app_id integer NOT NULL, product_id text, type text, purchases bigint NOT NULL, free_purchases bigint NOT NULL,
    refunded bigint NOT NULL, customers bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, product_id, type)
);
CREATE TABLE refresh_sale_totals (
    app_id integer NOT NULL, product_id text, type text, storefront text, currency text, list_price_milliunits bigint, is_renewal boolean,
    sales bigint NOT NULL, first_sold_at timestamptz, last_sold_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal)
);

DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT c.oid::regclass AS name, c.relname, a.attname, a.attnum
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND c.relname ~ '^refresh_(stored_(periods|transactions)|periods_(before|after|beside)|(product|sale)_totals)$'
    LOOP
        IF made.attnum = 1 THEN
            EXECUTE format('COMMENT ON TABLE %s IS %L', made.name, CASE
                WHEN made.relname LIKE 'refresh\_stored\_%' THEN 'Rows that the totals count, as of the last refresh; internal to refresh_views().'
                WHEN made.relname LIKE 'refresh\_%\_totals' THEN 'Sums that views show, as of the last refresh; internal to refresh_views().'
                ELSE 'Empty except during a refresh; internal to refresh_views().' END);
        END IF;
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', made.name, made.attname,
                       'Internal to refresh_views(); the view that fills the table says what it means.');
        IF made.attname ~ '(transaction_id|customer_key|purchase_key)$' THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', made.name, made.attname);
        END IF;
    END LOOP;
END $$;

-- migrate creates the views after this file, so PostgreSQL cannot check the functions yet.
SET LOCAL check_function_bodies = off;

-- As in 0041. Only rows that differ are stored and counted.
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
    END IF;
    IF NOT p_everything THEN
        PERFORM read_ahead();
    END IF;
    PERFORM compute_periods(p_everything);
    PERFORM compute_transactions(p_everything);
    IF NOT p_everything THEN
        PERFORM take_rows_beside();
    END IF;
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
        PERFORM store_changes('refresh_stored_periods', 'refresh_periods_before', 'refresh_periods_after');
        PERFORM store_changes('refresh_stored_transactions', 'refresh_transactions_before', 'refresh_transactions_after');
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

-- Reads the records and stored rows of the changed subscriptions and purchases into memory.
--
-- They lie on pages of their own, anywhere in large tables. A bitmap scan asks the disk for many of these pages at once. The look-ups
-- that follow would wait for one page after the other. Where the operating system lacks such requests, the setting is 0.
CREATE FUNCTION read_ahead() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off AS $$
DECLARE
    app record;
BEGIN
    IF current_setting('effective_io_concurrency') <> '0' THEN
        PERFORM set_config('effective_io_concurrency', '200', true);
    END IF;
    FOR app IN SELECT app_id, array_agg(key) AS keys FROM refresh_keys WHERE kind = 'purchase' GROUP BY app_id LOOP
        PERFORM count(t.signed_date) FROM transactions t WHERE t.app_id = app.app_id AND t.original_transaction_id = ANY (app.keys);
        PERFORM count(r.signed_date) FROM renewals r WHERE r.app_id = app.app_id AND r.original_transaction_id = ANY (app.keys);
        PERFORM count(n.signed_date) FROM notifications n WHERE n.app_id = app.app_id AND n.original_transaction_id = ANY (app.keys);
        PERFORM count(s.due_at) FROM refresh_stored_periods s WHERE s.app_id = app.app_id AND s.original_transaction_id = ANY (app.keys);
        PERFORM count(s.type) FROM refresh_stored_transactions s WHERE s.app_id = app.app_id AND s.purchase_key = ANY (app.keys);
    END LOOP;
END $$;
COMMENT ON FUNCTION read_ahead IS 'A part of refresh_views().';

-- Computes the periods of the changed subscriptions: refresh_periods_before has the stored rows that are replaced or gone,
-- refresh_periods_after the rows that replace them or are new. When everything is computed, all rows go to
-- refresh_stored_periods at once.
--
-- The usual period of a product is that of most of its stretches, so it can change with any of them, and all periods
-- of the product with it. They are computed again then; that happens when a product is new. An erasure leaves this to the next
-- refresh: other subscriptions can have marks that it does not take, and their lengths would not be counted.
CREATE OR REPLACE FUNCTION compute_periods(p_everything boolean) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    products text[];
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_periods SELECT * FROM refresh_periods_to_store;
        PERFORM add_changes('refresh_period_length_totals');
        IF renew_product_periods() <> '{}' THEN
            PERFORM empty_tables('refresh_stored_periods');
            INSERT INTO refresh_stored_periods SELECT * FROM refresh_periods_to_store;
        END IF;
        ANALYZE refresh_stored_periods;
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
        PERFORM empty_tables('refresh_periods_before', 'refresh_periods_after');
        PERFORM take_periods();
    END IF;
    ANALYZE refresh_periods_before, refresh_periods_after;
END $$;
COMMENT ON FUNCTION compute_periods IS 'A part of refresh_views().';

-- Fills refresh_periods_before and refresh_periods_after.
--
-- In this file, OFFSET 0 makes PostgreSQL look up one key at a time, through an index. Keys in their order read each page
-- of an index once.
CREATE OR REPLACE FUNCTION take_periods() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_mergejoin = off AS $$
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
    -- *= compares whole rows.
    INSERT INTO refresh_periods_before
    SELECT s.* FROM stored s
     WHERE NOT EXISTS (SELECT FROM computed c
                        WHERE (c.app_id, c.original_transaction_id, c.period_number) = (s.app_id, s.original_transaction_id, s.period_number)
                          AND c *= s);
    INSERT INTO refresh_periods_after
    SELECT c.* FROM computed c
     WHERE NOT EXISTS (SELECT FROM stored s
                        WHERE (s.app_id, s.original_transaction_id, s.period_number) = (c.app_id, c.original_transaction_id, c.period_number)
                          AND s *= c);
    DROP TABLE stored, computed;
END $$;
COMMENT ON FUNCTION take_periods IS 'A part of refresh_views().';

-- As compute_periods, for transactions.
CREATE OR REPLACE FUNCTION compute_transactions(p_everything boolean) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_mergejoin = off AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_transactions
        SELECT t.*, coalesce(t.original_transaction_id, t.transaction_id) FROM refresh_transactions_to_store t;
        UPDATE refresh_state
           SET purchases = (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM refresh_stored_transactions) p);
        ANALYZE refresh_stored_transactions;
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
                           WHERE v.app_id = k.app_id AND v.transaction_id = k.key AND v.original_transaction_id IS NULL OFFSET 0) t;
    INSERT INTO refresh_transactions_before
    SELECT s.* FROM stored s
     WHERE NOT EXISTS (SELECT FROM computed c
                        WHERE (c.app_id, c.purchase_key, c.transaction_id) = (s.app_id, s.purchase_key, s.transaction_id) AND c *= s);
    INSERT INTO refresh_transactions_after
    SELECT c.* FROM computed c
     WHERE NOT EXISTS (SELECT FROM stored s
                        WHERE (s.app_id, s.purchase_key, s.transaction_id) = (c.app_id, c.purchase_key, c.transaction_id) AND s *= c);
    UPDATE refresh_state
       SET purchases = purchases
                     - (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM stored) s)
                     + (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM computed) c);
    DROP TABLE stored, computed;
    ANALYZE refresh_transactions_before, refresh_transactions_after;
END $$;
COMMENT ON FUNCTION compute_transactions IS 'A part of refresh_views().';

-- Fills refresh_periods_beside and refresh_transactions_beside: rows that are the same before and after, and that totals need
-- beside the rows that differ.
CREATE FUNCTION take_rows_beside() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- The other periods of the same subscriptions, and the periods of changed refunds.
    INSERT INTO refresh_periods_beside
    SELECT s.*
      FROM (SELECT app_id, original_transaction_id FROM refresh_periods_before
            UNION SELECT app_id, original_transaction_id FROM refresh_periods_after
            UNION SELECT app_id, original_transaction_id FROM refresh_transactions_before WHERE is_refunded
            UNION SELECT app_id, original_transaction_id FROM refresh_transactions_after WHERE is_refunded
            ORDER BY app_id, original_transaction_id) k
      CROSS JOIN LATERAL (SELECT * FROM refresh_stored_periods s
                           WHERE s.app_id = k.app_id AND s.original_transaction_id = k.original_transaction_id OFFSET 0) s
    EXCEPT TABLE refresh_periods_before;
    -- The other purchases of the same customers, and the refunds of changed subscriptions.
    INSERT INTO refresh_transactions_beside
    (SELECT s.*
       FROM (SELECT app_id, customer_key FROM refresh_transactions_before WHERE is_purchase
             UNION SELECT app_id, customer_key FROM refresh_transactions_after WHERE is_purchase
             ORDER BY app_id, customer_key) c
       CROSS JOIN LATERAL (SELECT * FROM refresh_stored_transactions s
                            WHERE s.app_id = c.app_id AND s.customer_key = c.customer_key AND s.is_purchase OFFSET 0) s
     UNION
     SELECT s.*
       FROM (SELECT app_id, original_transaction_id FROM refresh_periods_before
             UNION SELECT app_id, original_transaction_id FROM refresh_periods_after
             ORDER BY app_id, original_transaction_id) k
       CROSS JOIN LATERAL (SELECT * FROM refresh_stored_transactions s
                            WHERE s.app_id = k.app_id AND s.purchase_key = k.original_transaction_id AND s.is_refunded OFFSET 0) s)
    EXCEPT TABLE refresh_transactions_before;
    ANALYZE refresh_periods_beside, refresh_transactions_beside;
END $$;
COMMENT ON FUNCTION take_rows_beside IS 'A part of refresh_views().';

-- Replaces rows of a stored table: deletes those of p_before that are gone, and inserts or updates those of p_after.
CREATE FUNCTION store_changes(p_stored regclass, p_before regclass, p_after regclass) RETURNS void
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
              FROM (SELECT %4$s FROM %2$s EXCEPT SELECT %4$s FROM %3$s) gone
              CROSS JOIN LATERAL (SELECT s.ctid AS place FROM %1$s s WHERE %5$s OFFSET 0) s))
        $q$, p_stored, p_before, p_after, columns.keys, columns.same_keys);
    EXECUTE format('INSERT INTO %s SELECT * FROM %s ON CONFLICT (%s) DO UPDATE SET %s', p_stored, p_after, columns.keys, columns.changes);
END $$;
COMMENT ON FUNCTION store_changes IS 'A part of refresh_views().';

-- Finds the first and the last sale of a group again where the transaction that was one of them is gone or has changed.
--
-- Adding a sale can only widen the range, which add_changes() does.
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
         SELECT FROM refresh_transactions_before b
          WHERE b.is_purchase AND b.app_id = t.app_id AND b.purchase_date IN (t.first_sold_at, t.last_sold_at)
            AND refresh_sale_group(b.product_id, b.type, b.storefront, b.currency, b.list_price_milliunits, b.is_renewal)
                = refresh_sale_group(t.product_id, t.type, t.storefront, t.currency, t.list_price_milliunits, t.is_renewal));
END $$;
COMMENT ON FUNCTION renew_first_and_last IS 'A part of refresh_views().';

-- Adds the transactions whose stored rows changed, in what notifications are counted with.
CREATE OR REPLACE FUNCTION add_changed_transactions() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO refresh_keys
    SELECT app_id, 'transaction', transaction_id FROM refresh_transactions_before
    UNION
    SELECT app_id, 'transaction', transaction_id FROM refresh_transactions_after
    UNION
    SELECT app_id, 'transaction', transaction_id
      FROM (SELECT sign, app_id, transaction_id, product_id, storefront, currency, is_trial, is_family_shared, mrr_milliunits
              FROM refresh_changed_periods) p
     GROUP BY app_id, transaction_id, product_id, storefront, currency, is_trial, is_family_shared, mrr_milliunits
    HAVING sum(sign) <> 0
    ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION add_changed_transactions IS 'A part of refresh_views().';

-- As in 0041; the rows that are replaced are found by their keys.
CREATE OR REPLACE FUNCTION compute_cancellations(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_cancellations
        SELECT app_id, coalesce(transaction_id, notification_uuid), day, product_id, storefront, currency, is_renewal_on, is_trial,
               mrr_milliunits
          FROM refresh_cancellations_to_store;
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
                           WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND v.transaction_id IS NULL OFFSET 0) c
     WHERE k.kind = 'transaction';
    INSERT INTO refresh_stored_cancellations SELECT * FROM refresh_cancellations_after;
END $$;
COMMENT ON FUNCTION compute_cancellations IS 'A part of refresh_views().';

-- As compute_cancellations, for requests for a refund and for decisions without a request.
CREATE OR REPLACE FUNCTION compute_refund_requests(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_refund_requests
        SELECT app_id, coalesce(transaction_id, notification_uuid), month, product_id, storefront, currency, is_request, outcome,
               price_milliunits, delay
          FROM refresh_refund_requests_to_store;
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
                           WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND v.transaction_id IS NULL OFFSET 0) r
     WHERE k.kind = 'transaction';
    INSERT INTO refresh_stored_refund_requests SELECT * FROM refresh_refund_requests_after;
END $$;
COMMENT ON FUNCTION compute_refund_requests IS 'A part of refresh_views().';
DROP FUNCTION remove_stored_periods, remove_stored_transactions;

-- As in 0041; the time of the last refresh is that of all stored rows.
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
              -- The status counted before, so that only its age changed.
              AND (p.reported_status IS NULL
                   OR s.asked_at >= p.reported_at
                      AND p.reported_at >= greatest(p.starts_at, CASE WHEN p.revocation_date <= last_as_of THEN p.revocation_date END,
                                                    CASE WHEN p.expires_date <= last_as_of THEN p.expires_date END,
                                                    CASE WHEN p.grace_until <= last_as_of THEN p.grace_until END)
                      AND p.reported_at > last_as_of - interval '60 days')
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
COMMENT ON FUNCTION resolve_keys IS 'A part of refresh_views().';

CREATE OR REPLACE FUNCTION empty_refresh_tables() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT empty_tables('refresh_keys', 'refresh_periods_before', 'refresh_periods_after', 'refresh_periods_beside',
                        'refresh_transactions_before', 'refresh_transactions_after',
                        'refresh_transactions_beside', 'refresh_cancellations_before', 'refresh_cancellations_after',
                        'refresh_refund_requests_before', 'refresh_refund_requests_after')
$$;
COMMENT ON FUNCTION empty_refresh_tables IS 'A part of refresh_views().';

-- As in 0041, with the time as of which new rows count.
CREATE OR REPLACE FUNCTION refresh_views(everything boolean DEFAULT false, only_if_redefined boolean DEFAULT false)
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
    UPDATE refresh_state SET next_as_of = now(), is_rebuild = is_everything;
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

-- As in 0041.
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
        -- The totals stay as of the last refresh.
        UPDATE refresh_state SET next_as_of = as_of;
        PERFORM count_changes(false);
    END IF;
    PERFORM empty_refresh_tables();
END $$;

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
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
