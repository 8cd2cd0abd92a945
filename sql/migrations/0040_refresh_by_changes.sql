-- What changed since the last refresh of the materialised views, and which sums do the views show?
--
-- Every materialised view shows sums over subscriptions, transactions, customers or days. A refresh computes only
-- what changed:
--
-- 1. Triggers append the key of each changed record to refresh_changed_keys. Rows are only appended, because a unique row would
--    lose a mark when a writer skips a row that the refresh is deleting.
-- 2. A refresh takes the marks of its snapshot, and adds the keys whose rows change at a date that has passed (due_at).
-- 3. It computes the rows of these keys again (the views …_to_store), and replaces those in the tables stored_….
-- 4. It adds to each table …_totals what the new rows count less what the old rows counted (the views …_changes). Totals
--    are integers, so adding and subtracting is exact.
-- 5. It refreshes the materialised views whose totals changed. They divide, accumulate over a calendar, and leave out future months.
--
-- Everything is one REPEATABLE READ transaction under refresh_lock. A writer that commits later leaves its marks for
-- the next refresh. The same result comes from computing everything from every record (the views …_from_scratch);
-- storeledger refresh --verify compares the two.

CREATE TABLE refresh_changed_keys (
    app_id integer NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    written_by xid8 NOT NULL DEFAULT pg_current_xact_id()
);
COMMENT ON TABLE refresh_changed_keys IS 'The keys of records that changed since the last refresh of the views. Triggers append them, and a refresh removes them.';
COMMENT ON COLUMN refresh_changed_keys.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN refresh_changed_keys.kind IS
    'purchase: an original transaction ID, or a transaction ID without one. transaction: a transaction ID, or the UUID of a notification without one. notification: a UUID. day: a day of notifications, in UTC. product: a product ID. again: an original transaction ID of which Apple only signed the renewal info, or gave the status, again.';
COMMENT ON COLUMN refresh_changed_keys.key IS 'The key.';
COMMENT ON COLUMN refresh_changed_keys.written_by IS 'The transaction that changed the record.';
ALTER TABLE refresh_changed_keys ALTER COLUMN key SET STATISTICS 0;

CREATE TABLE refresh_state (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    as_of timestamptz,
    definitions text,
    purchases bigint NOT NULL DEFAULT 0,
    is_rebuild boolean NOT NULL DEFAULT false,
    unshown text[] NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE refresh_state IS 'One row: what the tables refresh_stored_… and refresh_…_totals contain.';
COMMENT ON COLUMN refresh_state.is_only_row IS 'Always true.';
COMMENT ON COLUMN refresh_state.as_of IS 'The time of the ledger state that they contain. NULL before the first refresh.';
COMMENT ON COLUMN refresh_state.definitions IS
    'A hash of the definitions that they were computed with. If it is another, or NULL, the next refresh computes everything again.';
COMMENT ON COLUMN refresh_state.purchases IS 'The number of subscriptions and other purchases in them.';
COMMENT ON COLUMN refresh_state.is_rebuild IS 'Whether everything is being computed again. False, except inside the transaction of a refresh.';
COMMENT ON COLUMN refresh_state.unshown IS 'Tables that an erasure changed after the last refresh of the views.';
INSERT INTO refresh_state DEFAULT VALUES;

CREATE TABLE refresh_stored_periods (
    app_id integer NOT NULL, original_transaction_id text NOT NULL, period_number bigint NOT NULL, transaction_id text NOT NULL,
    product_id text, storefront text, currency text, price_milliunits bigint, transaction_reason text, offer_type integer,
    offer_identifier text, offer_discount_type text, billing_plan_type text, is_trial boolean, is_family_shared boolean,
    is_paid boolean, starts_at timestamptz, expires_date timestamptz, ends_at timestamptz, grace_until timestamptz,
    ended_by text, revocation_date timestamptz, next_starts_at timestamptz, is_last boolean, period text,
    mrr_milliunits bigint, estimated_upgrade_refund_milliunits bigint, first_paid_at timestamptz, is_extended boolean,
    period_by_length text, payment_number bigint, is_continued boolean, is_renewed boolean, next_product_id text,
    next_storefront text, is_after_trial boolean, has_failed boolean, next_recovered_at timestamptz, expiry_reason text,
    auto_renew_status integer, expiration_intent integer, is_in_billing_retry_period boolean,
    renewal_info_signed_date timestamptz, reported_status integer, reported_at timestamptz,
    as_of timestamptz NOT NULL, due_at timestamptz,
    PRIMARY KEY (app_id, original_transaction_id, period_number)
);
CREATE INDEX refresh_stored_periods_due_at ON refresh_stored_periods (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE refresh_stored_transactions (
    app_id integer NOT NULL, original_transaction_id text, transaction_id text NOT NULL, is_purchase boolean NOT NULL,
    customer_key text, purchase_date timestamptz, product_id text, type text, storefront text, currency text,
    quantity integer, price_milliunits bigint, is_paid boolean, is_refunded boolean, refund_date timestamptz,
    refund_reason integer, refunded_milliunits bigint, net_milliunits bigint, list_price_milliunits bigint,
    is_renewal boolean, in_app_ownership_type text, revocation_date timestamptz, purchase_key text NOT NULL,
    PRIMARY KEY (app_id, purchase_key, transaction_id)
);
CREATE INDEX refresh_stored_transactions_customer_key ON refresh_stored_transactions (app_id, customer_key) WHERE is_purchase;
CREATE TABLE refresh_stored_cancellations (
    app_id integer NOT NULL, transaction_key text NOT NULL, notification_uuid text NOT NULL, day date, product_id text,
    storefront text, currency text, is_renewal_on boolean, is_trial boolean, mrr_milliunits bigint
);
CREATE INDEX refresh_stored_cancellations_transaction_key ON refresh_stored_cancellations (app_id, transaction_key);
CREATE TABLE refresh_stored_refund_requests (
    app_id integer NOT NULL, transaction_key text NOT NULL, notification_uuid text NOT NULL, month date, product_id text,
    storefront text, currency text, is_request boolean, outcome text, price_milliunits bigint, delay interval
);
CREATE INDEX refresh_stored_refund_requests_transaction_key ON refresh_stored_refund_requests (app_id, transaction_key);
CREATE TABLE refresh_stored_notification_days (
    app_id integer NOT NULL, day date, notification_type text, notifications bigint, delivered bigint,
    delivered_at_once bigint, retrying bigint, not_known_yet bigint, never_received bigint, unknown bigint,
    attempts bigint, failed_attempts bigint, median_time_to_success interval, longest_time_to_success interval,
    due_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (app_id, day, notification_type)
);
CREATE INDEX refresh_stored_notification_days_due_at ON refresh_stored_notification_days (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE refresh_active_totals (
    app_id integer NOT NULL, product_id text, day date, events bigint NOT NULL, paid bigint NOT NULL,
    trials bigint NOT NULL, started bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, product_id, day)
);
CREATE TABLE refresh_movement_totals (
    app_id integer NOT NULL, day date, product_id text, storefront text, new bigint NOT NULL, resubscribed bigint NOT NULL,
    expired bigint NOT NULL, switched_in bigint NOT NULL, switched_out bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront)
);
CREATE TABLE refresh_mrr_totals (
    app_id integer NOT NULL, month date, product_id text, period text, storefront text, currency text,
    subscriptions bigint NOT NULL, without_mrr bigint NOT NULL, mrr_milliunits bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, period, storefront, currency)
);
CREATE TABLE refresh_mrr_movement_totals (
    app_id integer NOT NULL, month date, currency text, new_milliunits bigint NOT NULL,
    reactivation_milliunits bigint NOT NULL, expansion_milliunits bigint NOT NULL, contraction_milliunits bigint NOT NULL,
    churn_milliunits bigint NOT NULL, switched_in_milliunits bigint NOT NULL, switched_out_milliunits bigint NOT NULL,
    new_subscriptions bigint NOT NULL, reactivated_subscriptions bigint NOT NULL, expanded_subscriptions bigint NOT NULL,
    contracted_subscriptions bigint NOT NULL, churned_subscriptions bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, currency)
);
CREATE TABLE refresh_churn_totals (
    app_id integer NOT NULL, month date, product_id text, renewals bigint NOT NULL, recovered bigint NOT NULL,
    conversions bigint NOT NULL, voluntary bigint NOT NULL, billing bigint NOT NULL, price bigint NOT NULL,
    refund bigint NOT NULL, other bigint NOT NULL, unknown bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id)
);
CREATE TABLE refresh_cohort_totals (
    app_id integer NOT NULL, cohort_month date, product_id text, period text, month date, subscriptions bigint NOT NULL,
    retained bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, cohort_month, product_id, period, month)
);
CREATE TABLE refresh_renewal_totals (
    app_id integer NOT NULL, product_id text, period text, payment_number bigint, subscriptions bigint NOT NULL,
    due bigint NOT NULL, renewed bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, product_id, period, payment_number)
);
CREATE TABLE refresh_new_subscription_totals (
    app_id integer NOT NULL, day date, product_id text, storefront text, new bigint NOT NULL,
    trial_conversions bigint NOT NULL, introductory bigint NOT NULL, direct bigint NOT NULL,
    direct_with_offer bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront)
);
CREATE TABLE refresh_trial_totals (
    app_id integer NOT NULL, day date, product_id text, storefront text, started bigint NOT NULL,
    converted bigint NOT NULL, running bigint NOT NULL, will_not_renew bigint NOT NULL, lost bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront)
);
CREATE TABLE refresh_offer_conversion_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, is_trial boolean, offer_type integer,
    offer_discount_type text, offer_identifier text, started bigint NOT NULL, converted bigint NOT NULL,
    running bigint NOT NULL, lost bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier)
);
CREATE TABLE refresh_offer_redemption_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, is_trial boolean, offer_type integer,
    offer_discount_type text, offer_identifier text, redemptions bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier)
);
CREATE TABLE refresh_status_totals (
    app_id integer NOT NULL, product_id text, storefront text, currency text, status text, subscriptions bigint NOT NULL,
    paid bigint NOT NULL, trials bigint NOT NULL, family_shared bigint NOT NULL, will_renew bigint NOT NULL,
    will_not_renew bigint NOT NULL, mrr_milliunits bigint NOT NULL, trials_will_not_renew bigint NOT NULL,
    reported_by_apple bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, product_id, storefront, currency, status)
);
CREATE TABLE refresh_mrr_at_risk_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, currency text, subscriptions bigint NOT NULL,
    mrr_milliunits bigint NOT NULL, will_not_renew bigint NOT NULL, will_not_renew_mrr_milliunits bigint NOT NULL,
    in_grace_period bigint NOT NULL, in_grace_period_mrr_milliunits bigint NOT NULL,
    at_risk_mrr_milliunits bigint NOT NULL, renewal_unknown bigint NOT NULL, reported_by_apple bigint NOT NULL,
    not_active_by_apple bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);
CREATE TABLE refresh_billing_recovery_totals (
    app_id integer NOT NULL, month date, product_id text, failed bigint NOT NULL, recovered bigint NOT NULL,
    still_tried bigint NOT NULL, lost bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, month, product_id)
);
CREATE TABLE refresh_recovery_time_totals (
    app_id integer NOT NULL, month date, product_id text, delay interval, payments bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, delay)
);
CREATE TABLE refresh_later_payment_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, currency text, purchases bigint NOT NULL,
    gross_milliunits bigint NOT NULL, refunds bigint NOT NULL, refunded_milliunits bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);
CREATE TABLE refresh_revenue_totals (
    app_id integer NOT NULL, month date, product_id text, type text, storefront text, currency text,
    purchases bigint NOT NULL, units bigint NOT NULL, free_purchases bigint NOT NULL, gross_milliunits bigint NOT NULL,
    refunds bigint NOT NULL, refunded_milliunits bigint NOT NULL, without_price bigint NOT NULL,
    estimated_upgrade_refunds bigint NOT NULL, estimated_upgrade_refund_milliunits bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, type, storefront, currency)
);
CREATE TABLE refresh_daily_revenue_totals (
    app_id integer NOT NULL, day date, product_id text, currency text, purchases bigint NOT NULL,
    new_payments bigint NOT NULL, renewal_payments bigint NOT NULL, gross_milliunits bigint NOT NULL,
    new_milliunits bigint NOT NULL, renewal_milliunits bigint NOT NULL, refunds bigint NOT NULL,
    refunded_milliunits bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, currency)
);
CREATE TABLE refresh_refund_rate_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, currency text, purchases bigint NOT NULL,
    refunded bigint NOT NULL, refunded_for_an_issue bigint NOT NULL, gross_milliunits bigint NOT NULL,
    refunded_milliunits bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);
CREATE TABLE refresh_refund_time_totals (
    app_id integer NOT NULL, month date, product_id text, storefront text, currency text, delay interval,
    purchases bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency, delay)
);
CREATE TABLE refresh_family_sharing_totals (
    app_id integer NOT NULL, month date, product_id text, began bigint NOT NULL, revoked bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id)
);
CREATE TABLE refresh_average_revenue_totals (
    app_id integer NOT NULL, month date, currency text, customers bigint NOT NULL, paying_customers bigint NOT NULL,
    net_milliunits bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, month, currency)
);
CREATE TABLE refresh_lifetime_value_totals (
    app_id integer NOT NULL, cohort_month date, currency text, month date, customers bigint NOT NULL,
    net_milliunits bigint NOT NULL, UNIQUE NULLS NOT DISTINCT (app_id, cohort_month, currency, month)
);
CREATE TABLE refresh_product_totals (
    app_id integer NOT NULL, product_id text, type text, purchases bigint NOT NULL, free_purchases bigint NOT NULL,
    refunded bigint NOT NULL, customers bigint NOT NULL, first_sold_at timestamptz, last_sold_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, type)
);
CREATE TABLE refresh_product_price_totals (
    app_id integer NOT NULL, product_id text, storefront text, currency text, price_milliunits bigint,
    purchases bigint NOT NULL, renewals bigint NOT NULL, first_sold_at timestamptz, last_sold_at timestamptz,
    first_new_sale_at timestamptz, last_new_sale_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, storefront, currency, price_milliunits)
);
CREATE TABLE refresh_period_length_totals (
    app_id integer NOT NULL, product_id text, period text, periods bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, period)
);

-- The tables of a running refresh. They are empty except inside its transaction.
CREATE TABLE refresh_keys (app_id integer, kind text, key text, PRIMARY KEY (app_id, kind, key));
CREATE UNLOGGED TABLE refresh_periods_before (LIKE refresh_stored_periods);
CREATE UNLOGGED TABLE refresh_periods_after (LIKE refresh_stored_periods);
CREATE UNLOGGED TABLE refresh_transactions_before (LIKE refresh_stored_transactions);
CREATE UNLOGGED TABLE refresh_transactions_after (LIKE refresh_stored_transactions);
CREATE UNLOGGED TABLE refresh_transactions_beside (LIKE refresh_stored_transactions);

DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT c.oid::regclass AS name, c.relname, a.attname, a.attnum
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND c.relname ~ '^refresh_(stored_|.*_totals$|keys$|.*_(before|after|beside)$)'
    LOOP
        IF made.attnum = 1 THEN
            EXECUTE format('COMMENT ON TABLE %s IS %L', made.name, CASE
                WHEN made.relname LIKE 'refresh\_stored\_%' THEN 'Rows that the totals count, as of the last refresh; internal to refresh_views().'
                WHEN made.relname LIKE 'refresh\_%\_totals' THEN 'Sums that materialised views show, as of the last refresh; internal to refresh_views().'
                ELSE 'Empty except during a refresh; internal to refresh_views().' END);
        END IF;
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', made.name, made.attname,
                       'Internal to refresh_views(); the view that fills the table says what it means.');
        -- Statistics outlive the rows. There are none of IDs.
        IF made.attname ~ '(transaction_id|customer_key|purchase_key|transaction_key|notification_uuid)$' OR made.attname = 'key' THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', made.name, made.attname);
        END IF;
    END LOOP;
END $$;

-- Each function appends the keys of the rows that a statement inserted, changed or deleted.
CREATE FUNCTION log_changed_transactions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'purchase', coalesce(original_transaction_id, transaction_id) FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'purchase', coalesce(original_transaction_id, transaction_id) FROM old_rows;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION log_changed_subscriptions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;
-- A status that Apple gave again is no change for most totals; see resolve_keys().
CREATE FUNCTION log_changed_statuses() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, CASE WHEN (n.status, n.ended_at) IS NOT DISTINCT FROM (o.status, o.ended_at) THEN 'again' ELSE 'purchase' END,
               original_transaction_id
          FROM new_rows n FULL JOIN old_rows o USING (app_id, original_transaction_id);
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT app_id, 'purchase', original_transaction_id FROM new_rows;
    ELSE
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT app_id, 'purchase', original_transaction_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION log_changed_signatures() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'again', record_key FROM new_rows WHERE kind = 'renewalInfo';
    ELSE
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'again', record_key FROM old_rows WHERE kind = 'renewalInfo';
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION log_changed_refunds() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'transaction', owner_key FROM new_rows WHERE owner_kind = 'transaction';
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'transaction', owner_key FROM old_rows WHERE owner_kind = 'transaction';
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION log_changed_notifications() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'transaction', coalesce(transaction_id, notification_uuid) FROM new_rows
        UNION
        SELECT app_id, 'day', (signed_date AT TIME ZONE 'UTC')::date::text FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'transaction', coalesce(transaction_id, notification_uuid) FROM old_rows
        UNION
        SELECT app_id, 'day', (signed_date AT TIME ZONE 'UTC')::date::text FROM old_rows;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION log_changed_attempts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'notification', notification_uuid FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'notification', notification_uuid FROM old_rows;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION log_changed_products() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'product', product_id FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'product', product_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

-- TRUNCATE has no rows: the next refresh computes everything again.
CREATE FUNCTION log_truncated_table() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE refresh_state SET definitions = NULL;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION log_truncated_table IS 'Makes the next refresh compute everything.';

DO $$
DECLARE
    logged record;
BEGIN
    FOR logged IN
        SELECT * FROM (VALUES ('transactions', 'log_changed_transactions'), ('renewals', 'log_changed_subscriptions'),
                              ('subscription_statuses', 'log_changed_statuses'), ('latest_signatures', 'log_changed_signatures'),
                              ('advanced_commerce_refunds', 'log_changed_refunds'), ('notifications', 'log_changed_notifications'),
                              ('notification_send_attempts', 'log_changed_attempts'), ('products', 'log_changed_products')) l (name, action)
    LOOP
        EXECUTE format('CREATE TRIGGER log_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()',
                       logged.name, logged.action);
        EXECUTE format('CREATE TRIGGER log_updated AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()',
                       logged.name, logged.action);
        EXECUTE format('CREATE TRIGGER log_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()',
                       logged.name, logged.action);
        EXECUTE format('COMMENT ON FUNCTION %I() IS %L', logged.action, 'Appends the keys of changed rows to refresh_changed_keys.');
        EXECUTE format('CREATE TRIGGER log_truncated AFTER TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION log_truncated_table()', logged.name);
    END LOOP;
END $$;

-- What notification_health_by_day shows of one day.
--
-- due_at is the time at which the row changes by itself: a notification that is being retried becomes one whose
-- delivery is not known yet when Apple's next attempt was due.
--
-- migrate creates the views after this file, so PostgreSQL cannot check the functions yet.
SET LOCAL check_function_bodies = off;
CREATE FUNCTION notification_days_of(p_app_id integer, p_day date) RETURNS SETOF refresh_stored_notification_days
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT
        app_id, p_day, notification_type,
        count(*),
        count(*) FILTER (WHERE state = 'delivered'),
        count(*) FILTER (WHERE state = 'delivered' AND failed_attempts = 0),
        count(*) FILTER (WHERE state = 'retrying'),
        count(*) FILTER (WHERE state = 'not known yet'),
        count(*) FILTER (WHERE state = 'never received'),
        count(*) FILTER (WHERE state = 'unknown'),
        sum(attempts)::bigint,
        sum(failed_attempts)::bigint,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_success),
        max(time_to_success),
        min(last_attempt_at + (ARRAY[1, 12, 24, 48, 72])[attempts] * interval '1 hour') FILTER (WHERE state = 'retrying')
      FROM notification_deliveries
     WHERE app_id = p_app_id
       AND signed_date >= p_day::timestamp AT TIME ZONE 'UTC' AND signed_date < (p_day + 1)::timestamp AT TIME ZONE 'UTC'
     GROUP BY app_id, notification_type
$$;
COMMENT ON FUNCTION notification_days_of IS 'A part of refresh_views().';

-- Removes all rows of internal tables.
--
-- TRUNCATE frees the space of a large table at once, but waits for readers. A backup that reads the database
-- meanwhile is not waited for.
CREATE FUNCTION empty_tables(VARIADIC names text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        BEGIN
            IF pg_relation_size(quote_ident(name)) < 1048576 THEN
                EXECUTE format('DELETE FROM %I', name);
            ELSE
                EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE NOWAIT', name);
                EXECUTE format('TRUNCATE %I', name);
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            EXECUTE format('DELETE FROM %I', name);
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION empty_tables IS 'A part of refresh_views().';

-- A hash of every definition that the stored rows and totals depend on.
CREATE FUNCTION refresh_definitions() RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    WITH RECURSIVE used (oid) AS (
        SELECT c.oid FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v'
           AND (c.relname ~ '^refresh_.*_(changes|to_store)$' OR c.relname = 'notification_deliveries')
        UNION
        SELECT d.refobjid
          FROM used u JOIN pg_rewrite r ON r.ev_class = u.oid
          JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
          JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'v'
    )
    SELECT md5(string_agg(v.name || v.checksum, ' ' ORDER BY v.name))
      FROM used u JOIN pg_class c USING (oid) JOIN schema_views v ON v.name = c.relname
$$;
COMMENT ON FUNCTION refresh_definitions IS 'A part of refresh_views().';

-- Adds to a table of totals what its view of changes shows. Returns whether anything changed.
--
-- The columns of the table's only unique key are those of the sums' groups. The bigint columns besides are sums.
-- Those of type timestamptz are the first or the last of their group.
CREATE FUNCTION add_changes(totals regclass) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    columns   record;
    had_rows  bigint;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ') FILTER (WHERE k.is_key) AS keys,
           string_agg(quote_ident(a.attname), ', ') AS names,
           string_agg(CASE WHEN k.is_sum THEN format('coalesce(%I, 0)', a.attname) ELSE quote_ident(a.attname) END, ', ') AS read,
           string_agg(CASE WHEN k.is_sum THEN format('%1$I = t.%1$I + excluded.%1$I', a.attname)
                           ELSE format('%1$I = %2$s(t.%1$I, excluded.%1$I)', a.attname,
                                       CASE WHEN a.attname LIKE 'first\_%' THEN 'least' ELSE 'greatest' END) END, ', ')
               FILTER (WHERE NOT k.is_key) AS changes,
           string_agg(CASE WHEN k.is_sum THEN format('coalesce(%I, 0) <> 0', a.attname) ELSE format('%I IS NOT NULL', a.attname) END, ' OR ')
               FILTER (WHERE NOT k.is_key) AS any_change,
           string_agg(format('%I = 0', a.attname), ' AND ') FILTER (WHERE k.is_sum) AS no_sum
      INTO columns
      FROM pg_index x
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum > 0
      CROSS JOIN LATERAL (SELECT a.attnum = ANY (x.indkey::smallint[]) AS is_key) key
      CROSS JOIN LATERAL (SELECT is_key, NOT is_key AND a.atttypid = 'bigint'::regtype AS is_sum) k
     WHERE x.indrelid = totals AND x.indisunique;
    EXECUTE format('INSERT INTO %s AS t (%s) SELECT %s FROM %I WHERE %s ON CONFLICT (%s) DO UPDATE SET %s',
                   totals, columns.names, columns.read,
                   regexp_replace((SELECT relname FROM pg_class WHERE oid = totals), '_totals$', '_changes'),
                   columns.any_change, columns.keys, columns.changes);
    GET DIAGNOSTICS had_rows = ROW_COUNT;
    IF had_rows > 0 THEN
        EXECUTE format('DELETE FROM %s WHERE %s', totals, columns.no_sum);
    END IF;
    RETURN had_rows > 0;
END $$;
COMMENT ON FUNCTION add_changes IS 'A part of refresh_views().';

-- Brings the stored rows and the totals up to date, from the keys in refresh_keys or from everything. Returns the
-- tables that changed.
CREATE FUNCTION count_changes(p_everything boolean) RETURNS text[]
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
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
         ORDER BY relname
    LOOP
        IF totals <> 'refresh_period_length_totals'::regclass AND add_changes(totals) THEN
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
    RETURN changed || store_notifications(p_everything);
END $$;
COMMENT ON FUNCTION count_changes IS 'A part of refresh_views().';

-- Computes the periods of the changed subscriptions: those that are counted so far move to refresh_periods_before,
-- and the new ones are in refresh_periods_after. When everything is computed, the new ones are in
-- refresh_stored_periods at once.
--
-- The usual period of a product is that of most of its stretches, so it can change with any of them, and all periods
-- of the product with it. They are computed again then; that happens when a product is new.
CREATE FUNCTION compute_periods(p_everything boolean) RETURNS void
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
    products := renew_product_periods();
    IF products <> '{}' THEN
        INSERT INTO refresh_keys
        SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM refresh_stored_periods
         WHERE app_id || ' ' || product_id = ANY (products)
        ON CONFLICT DO NOTHING;
        DELETE FROM refresh_periods_after;
        PERFORM take_periods();
    END IF;
    ANALYZE refresh_periods_before;
    ANALYZE refresh_periods_after;
END $$;
COMMENT ON FUNCTION compute_periods IS 'A part of refresh_views().';

-- Moves the stored periods of the changed subscriptions to refresh_periods_before.
--
-- There are no statistics of IDs, so PostgreSQL would read the whole table. So it may use only the index.
CREATE FUNCTION remove_stored_periods() RETURNS void LANGUAGE sql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    WITH taken AS (
        DELETE FROM refresh_stored_periods s USING refresh_keys k
         WHERE k.kind = 'purchase' AND s.app_id = k.app_id AND s.original_transaction_id = k.key
        RETURNING s.*
    )
    INSERT INTO refresh_periods_before SELECT * FROM taken
$$;
COMMENT ON FUNCTION remove_stored_periods IS 'A part of refresh_views().';

-- As remove_stored_periods, for transactions; and finds the other purchases of their customers, given
-- refresh_transactions_after.
CREATE FUNCTION remove_stored_transactions() RETURNS void LANGUAGE sql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    WITH taken AS (
        DELETE FROM refresh_stored_transactions s USING refresh_keys k
         WHERE k.kind = 'purchase' AND s.app_id = k.app_id AND s.purchase_key = k.key
        RETURNING s.*
    )
    INSERT INTO refresh_transactions_before SELECT * FROM taken;
    INSERT INTO refresh_transactions_beside
    SELECT s.*
      FROM (SELECT app_id, customer_key FROM refresh_transactions_before WHERE is_purchase
            UNION
            SELECT app_id, customer_key FROM refresh_transactions_after WHERE is_purchase) c
      JOIN refresh_stored_transactions s ON s.app_id = c.app_id AND s.customer_key = c.customer_key AND s.is_purchase
$$;
COMMENT ON FUNCTION remove_stored_transactions IS 'A part of refresh_views().';

-- Moves the stored periods of the changed subscriptions to refresh_periods_before, and computes
-- refresh_periods_after.
CREATE FUNCTION take_periods() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    ANALYZE refresh_keys;
    PERFORM remove_stored_periods();
    -- OFFSET 0 makes PostgreSQL compute one subscription at a time, through its indexes.
    INSERT INTO refresh_periods_after
    SELECT p.*
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_periods_to_store v
                           WHERE v.app_id = k.app_id AND v.original_transaction_id = k.key OFFSET 0) p
     WHERE k.kind = 'purchase';
END $$;
COMMENT ON FUNCTION take_periods IS 'A part of refresh_views().';

-- Brings product_periods up to date. Returns the products whose usual period changed, as app_id and product_id with a
-- space between.
CREATE FUNCTION renew_product_periods() RETURNS text[] LANGUAGE sql SET search_path FROM CURRENT AS $$
    WITH usual AS MATERIALIZED (
        SELECT DISTINCT ON (app_id, product_id) app_id, product_id, period
          FROM refresh_period_length_totals
         -- Of two with the same number the shorter.
         ORDER BY app_id, product_id, periods DESC, now() + period::interval
    ), written AS (
        INSERT INTO product_periods AS p SELECT app_id, product_id, period FROM usual
            ON CONFLICT (app_id, product_id) DO UPDATE SET period = excluded.period WHERE p.period <> excluded.period
        RETURNING p.app_id, p.product_id
    ), removed AS (
        DELETE FROM product_periods p
         WHERE NOT EXISTS (SELECT FROM usual u WHERE u.app_id = p.app_id AND u.product_id = p.product_id)
        RETURNING p.app_id, p.product_id
    )
    SELECT coalesce(array_agg(app_id || ' ' || product_id), '{}') FROM (TABLE written UNION ALL TABLE removed) changed
$$;
COMMENT ON FUNCTION renew_product_periods IS 'A part of refresh_views().';

-- As compute_periods, for transactions; and the other purchases of their customers.
CREATE FUNCTION compute_transactions(p_everything boolean) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF p_everything THEN
        INSERT INTO refresh_stored_transactions
        SELECT t.*, coalesce(t.original_transaction_id, t.transaction_id) FROM refresh_transactions_to_store t;
        UPDATE refresh_state
           SET purchases = (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM refresh_stored_transactions) p);
        ANALYZE refresh_stored_transactions;
        RETURN;
    END IF;
    INSERT INTO refresh_transactions_after
    SELECT t.*, k.key
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_transactions_to_store v
                           WHERE v.app_id = k.app_id AND v.original_transaction_id = k.key OFFSET 0) t
     WHERE k.kind = 'purchase'
    UNION ALL
    SELECT t.*, k.key
      FROM refresh_keys k
      CROSS JOIN LATERAL (SELECT * FROM refresh_transactions_to_store v
                           WHERE v.app_id = k.app_id AND v.transaction_id = k.key AND v.original_transaction_id IS NULL OFFSET 0) t
     WHERE k.kind = 'purchase';
    PERFORM remove_stored_transactions();
    ANALYZE refresh_transactions_before;
    ANALYZE refresh_transactions_after;
    ANALYZE refresh_transactions_beside;
    UPDATE refresh_state
       SET purchases = purchases
                     - (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM refresh_transactions_before) b)
                     + (SELECT count(*) FROM (SELECT DISTINCT app_id, purchase_key FROM refresh_transactions_after) a);
END $$;
COMMENT ON FUNCTION compute_transactions IS 'A part of refresh_views().';

-- Finds the first and the last sale again where the transaction that was one of them is gone or has changed.
--
-- Adding a sale can only widen the range, which add_changes() does. Only the products concerned are read again.
CREATE FUNCTION renew_first_and_last() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    CREATE TEMP TABLE gone ON COMMIT DROP AS
    SELECT b.* FROM refresh_transactions_before b
     WHERE b.is_purchase AND NOT EXISTS (
        SELECT FROM refresh_transactions_after a
         WHERE a.app_id = b.app_id AND a.transaction_id = b.transaction_id AND a.is_purchase
           AND (a.product_id, a.type, a.storefront, a.currency, a.list_price_milliunits, a.is_renewal, a.purchase_date)
               IS NOT DISTINCT FROM (b.product_id, b.type, b.storefront, b.currency, b.list_price_milliunits, b.is_renewal, b.purchase_date));
    UPDATE refresh_product_totals t
       SET (first_sold_at, last_sold_at) = (
           SELECT min(s.purchase_date), max(s.purchase_date) FROM refresh_stored_transactions s
            WHERE s.is_purchase AND s.app_id = t.app_id AND s.product_id IS NOT DISTINCT FROM t.product_id
              AND s.type IS NOT DISTINCT FROM t.type)
     WHERE EXISTS (SELECT FROM gone g
                    WHERE g.app_id = t.app_id AND (g.product_id, g.type) IS NOT DISTINCT FROM (t.product_id, t.type)
                      AND g.purchase_date IN (t.first_sold_at, t.last_sold_at));
    UPDATE refresh_product_price_totals t
       SET (first_sold_at, last_sold_at, first_new_sale_at, last_new_sale_at) = (
           SELECT min(s.purchase_date), max(s.purchase_date), min(s.purchase_date) FILTER (WHERE NOT s.is_renewal),
                  max(s.purchase_date) FILTER (WHERE NOT s.is_renewal)
             FROM refresh_stored_transactions s
            WHERE s.app_id = t.app_id AND s.list_price_milliunits = t.price_milliunits
              AND (s.product_id, s.storefront, s.currency) IS NOT DISTINCT FROM (t.product_id, t.storefront, t.currency))
     WHERE EXISTS (SELECT FROM gone g
                    WHERE g.app_id = t.app_id AND g.list_price_milliunits = t.price_milliunits
                      AND (g.product_id, g.storefront, g.currency) IS NOT DISTINCT FROM (t.product_id, t.storefront, t.currency)
                      AND g.purchase_date IN (t.first_sold_at, t.last_sold_at, t.first_new_sale_at, t.last_new_sale_at));
    DROP TABLE gone;
END $$;
COMMENT ON FUNCTION renew_first_and_last IS 'A part of refresh_views().';

-- Adds the transactions whose stored rows changed.
CREATE FUNCTION add_changed_transactions() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO refresh_keys
    SELECT app_id, 'transaction', transaction_id FROM (TABLE refresh_transactions_before EXCEPT TABLE refresh_transactions_after) gone
    UNION
    SELECT app_id, 'transaction', transaction_id FROM (TABLE refresh_transactions_after EXCEPT TABLE refresh_transactions_before) come
    UNION
    SELECT app_id, 'transaction', transaction_id
      FROM (SELECT sign, app_id, transaction_id, product_id, storefront, currency, is_trial, is_family_shared, mrr_milliunits
              FROM refresh_changed_periods) p
     GROUP BY app_id, transaction_id, product_id, storefront, currency, is_trial, is_family_shared, mrr_milliunits
    HAVING sum(sign) <> 0
    ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION add_changed_transactions IS 'A part of refresh_views().';

-- Computes again what is stored of notifications. Returns the tables that changed.
CREATE FUNCTION store_notifications(p_everything boolean) RETURNS text[] LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
    removed bigint;
    added   bigint;
BEGIN
    DELETE FROM refresh_stored_cancellations s USING refresh_keys k
     WHERE k.kind = 'transaction' AND s.app_id = k.app_id AND s.transaction_key = k.key;
    GET DIAGNOSTICS removed = ROW_COUNT;
    IF p_everything THEN
        INSERT INTO refresh_stored_cancellations
        SELECT app_id, coalesce(transaction_id, notification_uuid), notification_uuid, day, product_id, storefront, currency,
               is_renewal_on, is_trial, mrr_milliunits
          FROM refresh_cancellations_to_store;
    ELSE
        INSERT INTO refresh_stored_cancellations
        SELECT c.app_id, k.key, c.notification_uuid, c.day, c.product_id, c.storefront, c.currency, c.is_renewal_on, c.is_trial,
               c.mrr_milliunits
          FROM refresh_keys k
          CROSS JOIN LATERAL (SELECT * FROM refresh_cancellations_to_store v
                               WHERE v.app_id = k.app_id AND v.transaction_id = k.key OFFSET 0) c
         WHERE k.kind = 'transaction'
        UNION ALL
        SELECT c.app_id, k.key, c.notification_uuid, c.day, c.product_id, c.storefront, c.currency, c.is_renewal_on, c.is_trial,
               c.mrr_milliunits
          FROM refresh_keys k
          CROSS JOIN LATERAL (SELECT * FROM refresh_cancellations_to_store v
                               WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND v.transaction_id IS NULL OFFSET 0) c
         WHERE k.kind = 'transaction';
    END IF;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF removed + added > 0 THEN
        changed := changed || 'refresh_stored_cancellations'::text;
    END IF;

    DELETE FROM refresh_stored_refund_requests s USING refresh_keys k
     WHERE k.kind = 'transaction' AND s.app_id = k.app_id AND s.transaction_key = k.key;
    GET DIAGNOSTICS removed = ROW_COUNT;
    IF p_everything THEN
        INSERT INTO refresh_stored_refund_requests
        SELECT app_id, coalesce(transaction_id, notification_uuid), notification_uuid, month, product_id, storefront, currency,
               is_request, outcome, price_milliunits, delay
          FROM refresh_refund_requests_to_store;
    ELSE
        INSERT INTO refresh_stored_refund_requests
        SELECT r.app_id, k.key, r.notification_uuid, r.month, r.product_id, r.storefront, r.currency, r.is_request, r.outcome,
               r.price_milliunits, r.delay
          FROM refresh_keys k
          CROSS JOIN LATERAL (SELECT * FROM refresh_refund_requests_to_store v
                               WHERE v.app_id = k.app_id AND v.transaction_id = k.key OFFSET 0) r
         WHERE k.kind = 'transaction'
        UNION ALL
        SELECT r.app_id, k.key, r.notification_uuid, r.month, r.product_id, r.storefront, r.currency, r.is_request, r.outcome,
               r.price_milliunits, r.delay
          FROM refresh_keys k
          CROSS JOIN LATERAL (SELECT * FROM refresh_refund_requests_to_store v
                               WHERE v.app_id = k.app_id AND v.notification_uuid = k.key AND v.transaction_id IS NULL OFFSET 0) r
         WHERE k.kind = 'transaction';
    END IF;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF removed + added > 0 THEN
        changed := changed || 'refresh_stored_refund_requests'::text;
    END IF;

    DELETE FROM refresh_stored_notification_days s USING refresh_keys k
     WHERE k.kind = 'day' AND s.app_id = k.app_id AND s.day = k.key::date;
    GET DIAGNOSTICS removed = ROW_COUNT;
    IF p_everything THEN
        INSERT INTO refresh_stored_notification_days
        SELECT days.*
          FROM (SELECT DISTINCT app_id, (signed_date AT TIME ZONE 'UTC')::date AS day FROM notifications) n
          CROSS JOIN LATERAL notification_days_of(n.app_id, n.day) days;
    ELSE
        INSERT INTO refresh_stored_notification_days
        SELECT days.*
          FROM refresh_keys k
          CROSS JOIN LATERAL notification_days_of(k.app_id, k.key::date) days
         WHERE k.kind = 'day';
    END IF;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF removed + added > 0 THEN
        changed := changed || 'refresh_stored_notification_days'::text;
    END IF;
    RETURN changed;
END $$;
COMMENT ON FUNCTION store_notifications IS 'A part of refresh_views().';

-- Takes the marks in refresh_changed_keys, and the keys whose rows change at a date that has passed.
--
-- Returns whether everything is to be computed: the caller wants it, nothing is stored yet, a definition changed, or
-- more than a quarter of the subscriptions and other purchases did.
CREATE FUNCTION take_changed_keys(p_everything boolean) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    state refresh_state;
BEGIN
    SELECT * INTO state FROM refresh_state;
    IF p_everything OR state.as_of IS NULL OR state.definitions IS DISTINCT FROM refresh_definitions() THEN
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
COMMENT ON FUNCTION take_changed_keys IS 'A part of refresh_views().';

-- Adds the subscriptions, purchases and days that the other keys belong to.
--
-- A subscription marked again is added only if the newer time of the signature or answer can count. It cannot if its
-- renewal info was signed after the last period began before, too, is not about billing retry, and Apple's own status
-- counts, or does not, as before. A job that reads every status each night then computes only the subscriptions that
-- changed.
CREATE FUNCTION resolve_keys() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
              AND (r.last_signed_date IS NULL OR p.renewal_info_signed_date IS NOT NULL)
              AND p.is_in_billing_retry_period IS NOT TRUE
              AND p.reported_status IS NOT DISTINCT FROM
                  CASE WHEN coalesce(s.records_signed_date, s.asked_at) >= greatest(t.signed_date, r.last_signed_date) THEN s.status END
              -- The status counted before, so that only its age changed.
              AND (p.reported_status IS NULL
                   OR p.reported_at >= greatest(p.starts_at, CASE WHEN p.revocation_date <= p.as_of THEN p.revocation_date END,
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

CREATE FUNCTION empty_refresh_tables() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT empty_tables('refresh_keys', 'refresh_periods_before', 'refresh_periods_after', 'refresh_transactions_before', 'refresh_transactions_after',
                        'refresh_transactions_beside')
$$;
COMMENT ON FUNCTION empty_refresh_tables IS 'A part of refresh_views().';

-- Brings the materialised views up to date, all from one snapshot when the caller's transaction has one.
--
-- REFRESH needs the view's owner, and the role that loads owns nothing. Readers see the old rows until the end. A
-- second caller waits. A caller that wants the snapshot to be newer than the lock takes the lock before, as the first
-- statement of a REPEATABLE READ transaction. only_empty: only views without rows yet, as after a migration.
-- everything: compute from every record.
CREATE TEMP TABLE refreshing_roles ON COMMIT DROP AS
SELECT DISTINCT pg_get_userbyid(a.grantee) AS name
  FROM pg_proc p, aclexplode(p.proacl) a
 WHERE p.oid = 'refresh_views(boolean)'::regprocedure AND a.grantee <> p.proowner AND a.grantee <> 0;
DROP FUNCTION refresh_views(boolean);
CREATE FUNCTION refresh_views(only_empty boolean DEFAULT false, everything boolean DEFAULT false)
RETURNS TABLE (view_name text, view_rows bigint, milliseconds bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET lock_timeout = '10min' AS $$
DECLARE
    began   timestamptz;
    view    record;
    changed text[];
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    IF everything OR NOT only_empty
       OR (SELECT as_of IS NULL OR definitions IS DISTINCT FROM refresh_definitions() FROM refresh_state) THEN
        everything := take_changed_keys(everything);
        changed := count_changes(everything);
        UPDATE refresh_state
           SET as_of = now(), definitions = refresh_definitions(), is_rebuild = false;
        PERFORM empty_refresh_tables();
    END IF;
    changed := changed || (SELECT unshown FROM refresh_state);
    UPDATE refresh_state SET unshown = '{}' WHERE unshown <> '{}';
    FOR view IN
        SELECT v.name, v.row_count, c.oid, c.relispopulated,
               NOT c.relispopulated OR v.refreshed_at IS NULL OR everything
               OR (v.refreshed_at AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date AS is_due
          FROM schema_views v
          JOIN pg_class c ON c.relname = v.name AND c.relkind = 'm' AND c.relnamespace = current_schema()::regnamespace
         WHERE v.is_materialized
         ORDER BY v.position
    LOOP
        began := clock_timestamp();
        view_name := view.name;
        view_rows := view.row_count;
        -- A view whose totals did not change shows the same, until the calendar day changes.
        IF view.is_due OR EXISTS (
            SELECT FROM pg_rewrite r
              JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
              JOIN pg_class c ON c.oid = d.refobjid
             WHERE r.ev_class = view.oid AND c.relname = ANY (changed)
        ) THEN
            EXECUTE format('REFRESH MATERIALIZED VIEW %s %I', CASE WHEN view.relispopulated THEN 'CONCURRENTLY' END, view_name);
            EXECUTE format('SELECT count(*) FROM %I', view_name) INTO view_rows;
            changed := changed || view_name;
        ELSIF only_empty THEN
            CONTINUE;
        END IF;
        milliseconds := extract(epoch FROM clock_timestamp() - began) * 1000;
        UPDATE schema_views v
           SET refreshed_at = now(), refresh_milliseconds = milliseconds, row_count = view_rows
         WHERE v.name = view_name;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION refresh_views IS
    'Brings the materialised views up to date, or only those without rows yet; for a role that does not own them. With everything, computes all from every record.';

-- Whether a refresh would change anything: a record changed, a date passed, a view has no rows yet, or a new day
-- began.
CREATE FUNCTION views_are_stale() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM refresh_changed_keys WHERE kind <> 'again')
        OR EXISTS (SELECT FROM schema_views v
                    WHERE v.is_materialized
                      AND (v.refreshed_at IS NULL OR (v.refreshed_at AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date))
        OR EXISTS (SELECT FROM refresh_state
                    WHERE as_of IS NULL OR unshown <> '{}' OR definitions IS DISTINCT FROM refresh_definitions())
        OR EXISTS (SELECT FROM refresh_stored_periods WHERE due_at <= now())
        OR EXISTS (SELECT FROM refresh_stored_notification_days WHERE due_at <= now())
$$;
COMMENT ON FUNCTION views_are_stale IS 'Whether a refresh of the materialised views would change anything.';

-- Takes the records that this transaction removed out of the stored rows and the totals, and removes the marks of
-- their keys.
--
-- An erasure calls it at its end, so that no internal table names the customer any more. p_ids are the customer's
-- IDs. The views show it after the next refresh. It does not wait for a refresh that is running: then the next
-- refresh does all this.
CREATE FUNCTION forget_erased(p_app_id integer, p_ids text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off AS $$
DECLARE
    changed text[];
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
        changed := count_changes(false);
        UPDATE refresh_state SET unshown = unshown || changed;
    END IF;
    PERFORM empty_refresh_tables();
END $$;
COMMENT ON FUNCTION forget_erased IS 'Takes what the running erasure removed out of the stored rows and totals; for a role that erases.';

-- Refreshes the materialised views, and compares them with what the views …_from_scratch compute, in the snapshot of
-- the caller's transaction. Every view is refreshed, so that a damaged total shows.
--
-- Returns a row for each difference, at most 100 for each view: the key, what is shown and what is computed, as JSON;
-- NULL where there is no row. The stored rows are compared, too. If there is a difference, the next refresh computes
-- everything again.
CREATE FUNCTION verify_views() RETURNS TABLE (view_name text, key text, shown text, computed text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET lock_timeout = '10min' AS $$
DECLARE
    compared record;
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    UPDATE refresh_state SET unshown = ARRAY(
        SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname ~ '^refresh_(stored_|.*_totals$)');
    PERFORM refresh_views();
    PERFORM keep_for_refresh('subscription_periods');
    PERFORM keep_for_refresh('subscription_months');
    PERFORM keep_for_refresh('current_subscriptions');
    PERFORM keep_for_refresh('purchases');
    FOR compared IN
        WITH compared (name, source, position) AS (
            SELECT v.name, 'refresh_' || v.name || '_from_scratch', v.position FROM schema_views v
             WHERE v.is_materialized AND to_regclass(quote_ident('refresh_' || v.name || '_from_scratch')) IS NOT NULL
            UNION ALL
            VALUES ('refresh_stored_periods', 'refresh_periods_to_store', -2), ('refresh_stored_transactions', 'refresh_transactions_to_store', -1)
        )
        SELECT c.name, c.source, columns.names,
               (SELECT string_agg(format('%L, %I', a.attname, a.attname), ', ')
                  FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey::smallint[])
                 WHERE x.indrelid = c.name::regclass AND x.indisunique AND a.attname <> 'purchase_key') AS keys
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
    'Compares the materialised views with a computation from every record, and returns the differences. After a difference, the next refresh computes everything again.';

RESET check_function_bodies;

-- filed_changes() was how a run knew that the views were stale.
DROP FUNCTION filed_changes();
ALTER TABLE schema_views DROP COLUMN filed_changes;

-- The new tables belong to the ledger's owner, although a superuser may be the one who migrates. Roles that refreshed
-- or erased before can go on before sql/roles.sql runs again. Functions with the owner's rights are not open to
-- PUBLIC.
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
        SELECT format('GRANT EXECUTE ON FUNCTION refresh_views(boolean, boolean), views_are_stale(), verify_views() TO %I', name)
          FROM refreshing_roles
        UNION ALL
        SELECT DISTINCT format('GRANT EXECUTE ON FUNCTION forget_erased(integer, text[]) TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'transactions'::regclass AND a.privilege_type = 'DELETE' AND a.grantee <> c.relowner AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
