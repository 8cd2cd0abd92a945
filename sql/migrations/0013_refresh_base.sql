-- What do several materialised views read, so that a refresh computes it once?
--
-- subscription_periods sorts every subscription's transactions, and seven materialised views stand on it. A refresh puts
-- what it shows, and three views of that kind, into these tables, lets the materialised views read them, and empties them
-- again before it ends. So nobody ever sees a row in them: not another session, nor a copy or a replica of the database.
-- A name is that of a view with kept_ before it, and so are a column's; the view NAME_at_refresh shows the table while it
-- is filled and the view itself when it is not, as when a materialised view is refreshed or restored by hand.

CREATE UNLOGGED TABLE kept_subscription_periods (
    app_id integer, original_transaction_id text, period_number bigint, transaction_id text, product_id text,
    subscription_group_identifier text, storefront text, currency text, price_milliunits bigint, transaction_reason text,
    offer_type integer, offer_identifier text, offer_discount_type text, is_trial boolean, is_family_shared boolean,
    is_paid boolean, starts_at timestamptz, expires_date timestamptz, ends_at timestamptz, grace_until timestamptz,
    ended_by text, revocation_date timestamptz, next_transaction_id text, next_starts_at timestamptz, period text,
    mrr_milliunits bigint
);
CREATE UNLOGGED TABLE kept_subscription_months (
    app_id integer, original_transaction_id text, month date, product_id text, period text, storefront text, currency text,
    mrr_milliunits bigint
);
CREATE UNLOGGED TABLE kept_current_subscriptions (
    app_id integer, product_id text, storefront text, currency text, status text, is_paid boolean, is_trial boolean,
    is_family_shared boolean, will_renew boolean, mrr_milliunits bigint
);
CREATE UNLOGGED TABLE kept_purchases (
    app_id integer, customer_key text, purchase_date timestamptz, month date, product_id text, type text, storefront text,
    currency text, quantity integer, price_milliunits bigint, is_paid boolean, is_refunded boolean, refund_date timestamptz,
    refund_month date, refund_reason integer, refunded_milliunits bigint, net_milliunits bigint
);
DO $$
DECLARE
    kept record;
BEGIN
    FOR kept IN
        SELECT c.oid::regclass AS name, substr(c.relname, 6) AS source, a.attname
          FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relname LIKE 'kept\_%' AND c.relkind = 'r'
    LOOP
        EXECUTE format('COMMENT ON TABLE %s IS %L', kept.name,
                       'What ' || kept.source || ' shows, while materialised views are refreshed from it; otherwise empty.');
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', kept.name, kept.attname, 'As in ' || kept.source || '.');
        -- Statistics outlive the rows: of IDs there are none.
        IF kept.attname ~ '(transaction_id|customer_key)$' THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', kept.name, kept.attname);
        END IF;
    END LOOP;
END $$;

-- The columns of a kept table, for a statement.
CREATE FUNCTION kept_columns(kept regclass) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = kept AND attnum > 0 AND NOT attisdropped
$$;
COMMENT ON FUNCTION kept_columns IS 'A part of refresh_views().';

-- What the view shows while the table is empty: so a materialised view can be refreshed, or restored, by itself, too.
--
-- A function, because the planner would add what the view may show to what the table holds, and take many rows for more.
CREATE FUNCTION unless_kept(kept anyelement) RETURNS SETOF anyelement
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
COMMENT ON FUNCTION unless_kept IS 'What a view shows, unless the table with kept_ before its name holds it.';

-- Fills a kept table with what the view of its name shows, computed from the kept stretches where the view reads those.
CREATE FUNCTION keep_for_refresh(source text) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    began timestamptz := clock_timestamp();
    kept  regclass := ('kept_' || source)::regclass;
BEGIN
    EXECUTE format('INSERT INTO %s SELECT %s FROM (%s) v', kept, kept_columns(kept),
                   regexp_replace(rtrim(pg_get_viewdef(source::regclass), ';'), '\msubscription_periods\M', 'kept_subscription_periods', 'g'));
    EXECUTE format('ANALYZE %s', kept);
    UPDATE schema_views v SET refresh_milliseconds = extract(epoch FROM clock_timestamp() - began) * 1000 WHERE v.name = source;
END $$;
COMMENT ON FUNCTION keep_for_refresh IS 'A part of refresh_views().';

-- As in 0007, with what several views read computed once. Of the rows of a refresh, which PostgreSQL compares with those
-- that are there, it needs to know little.
CREATE OR REPLACE FUNCTION refresh_views(only_empty boolean DEFAULT false)
RETURNS TABLE (view_name text, view_rows bigint, milliseconds bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET lock_timeout = '10min' AS $$
DECLARE
    began     timestamptz;
    populated boolean;
    is_filled boolean := false;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('storeledger refresh ' || current_schema(), 0));
    FOR view_name, populated IN
        SELECT c.relname::text, c.relispopulated
          FROM schema_views v
          JOIN pg_class c ON c.relname = v.name AND c.relkind = 'm' AND c.relnamespace = current_schema()::regnamespace
         WHERE v.is_materialized AND NOT (only_empty AND c.relispopulated)
         ORDER BY v.position
    LOOP
        IF NOT is_filled THEN
            PERFORM keep_for_refresh('subscription_periods');
            PERFORM keep_for_refresh('subscription_months');
            PERFORM keep_for_refresh('current_subscriptions');
            PERFORM keep_for_refresh('purchases');
            is_filled := true;
        END IF;
        began := clock_timestamp();
        EXECUTE format('REFRESH MATERIALIZED VIEW %s %I', CASE WHEN populated THEN 'CONCURRENTLY' END, view_name);
        EXECUTE format('SELECT count(*) FROM %I', view_name) INTO view_rows;
        milliseconds := extract(epoch FROM clock_timestamp() - began) * 1000;
        UPDATE schema_views v SET refreshed_at = now(), refresh_milliseconds = milliseconds, row_count = view_rows
         WHERE v.name = view_name;
        RETURN NEXT;
    END LOOP;
    BEGIN
        -- Gives the room back at once. A backup that reads the database meanwhile is not waited for.
        LOCK TABLE kept_subscription_periods, kept_subscription_months, kept_current_subscriptions, kept_purchases
            IN ACCESS EXCLUSIVE MODE NOWAIT;
        TRUNCATE kept_subscription_periods, kept_subscription_months, kept_current_subscriptions, kept_purchases;
    EXCEPTION WHEN lock_not_available THEN
        DELETE FROM kept_subscription_periods;
        DELETE FROM kept_subscription_months;
        DELETE FROM kept_current_subscriptions;
        DELETE FROM kept_purchases;
    END;
END $$;
