-- Which columns do the corrected subscription metrics need in the tables of a refresh?
--
-- A kept_ table holds for the length of a refresh what the view of its name shows; see 0013_refresh_base.sql.

-- The refund of an upgrade, which Apple does not report and subscription_periods estimates.
ALTER TABLE kept_subscription_periods ADD COLUMN estimated_upgrade_refund_milliunits bigint;

-- The first payment, extensions, what the lengths of stretches suggest, and what follows a stretch.
ALTER TABLE kept_subscription_periods
    ADD COLUMN billing_plan_type text,
    ADD COLUMN first_paid_at timestamptz,
    ADD COLUMN is_extended boolean,
    ADD COLUMN period_by_length text,
    ADD COLUMN payment_number bigint,
    ADD COLUMN is_continued boolean,
    ADD COLUMN is_renewed boolean,
    ADD COLUMN next_product_id text;
ALTER TABLE kept_subscription_months ADD COLUMN first_paid_month date;

DO $$
DECLARE
    kept record;
BEGIN
    FOR kept IN
        SELECT c.oid::regclass AS name, substr(c.relname, 6) AS source, a.attname
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relname LIKE 'kept\_%' AND c.relkind = 'r'
           AND col_description(a.attrelid, a.attnum) IS NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', kept.name, kept.attname, 'As in ' || kept.source || '.');
    END LOOP;
END $$;

-- Which period does each subscription product have?
--
-- Apple's data do not say. Most stretches of a product have the product's period; a few are longer because Apple extended them,
-- or shorter because a late payment was recovered. One count over all stretches is cheap in a refresh, which computes them
-- anyway, and too dear for a query about one subscription: so a refresh keeps the result.
CREATE TABLE product_periods (
    app_id integer NOT NULL REFERENCES apps,
    product_id text NOT NULL,
    period text NOT NULL,
    PRIMARY KEY (app_id, product_id)
);
COMMENT ON TABLE product_periods IS
    'The usual period of each subscription product, as of the last refresh of the views; subscription_periods reads it. refresh_views() fills it.';
COMMENT ON COLUMN product_periods.app_id IS 'The app, in apps.';
COMMENT ON COLUMN product_periods.product_id IS 'Apple''s productId.';
COMMENT ON COLUMN product_periods.period IS
    'The period, ISO 8601, that most stretches of the product have by their length; of two with the same number the shorter. Offers, monthly billing and extended stretches do not count.';

-- Brings product_periods up to date from the stretches of the refresh that is running. Returns whether anything changed.
--
-- Only what changed is written, so that an ordinary refresh writes nothing here.
CREATE FUNCTION keep_product_periods() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    has_changed boolean;
BEGIN
    WITH usual AS MATERIALIZED (
        SELECT DISTINCT ON (app_id, product_id) app_id, product_id, period_by_length AS period
          FROM (SELECT app_id, product_id, period_by_length, count(*) AS stretches, min(expires_date - starts_at) AS length
                  FROM kept_subscription_periods
                 WHERE product_id IS NOT NULL AND period_by_length IS NOT NULL AND NOT is_extended
                   AND offer_type IS NULL AND offer_discount_type IS NULL AND billing_plan_type IS DISTINCT FROM 'MONTHLY'
                 GROUP BY app_id, product_id, period_by_length) counted
         ORDER BY app_id, product_id, stretches DESC, length
    ), written AS (
        INSERT INTO product_periods AS p SELECT app_id, product_id, period FROM usual
            ON CONFLICT (app_id, product_id) DO UPDATE SET period = excluded.period WHERE p.period <> excluded.period
        RETURNING 1
    ), removed AS (
        DELETE FROM product_periods p
         WHERE NOT EXISTS (SELECT FROM usual u WHERE u.app_id = p.app_id AND u.product_id = p.product_id)
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM written) OR EXISTS (SELECT FROM removed) INTO has_changed;
    RETURN has_changed;
END $$;
COMMENT ON FUNCTION keep_product_periods IS 'A part of refresh_views().';

-- As in 0013. Stretches whose usual period was not known yet are computed again with it; that happens when a product is new.
CREATE OR REPLACE FUNCTION keep_for_refresh(source text) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    began timestamptz := clock_timestamp();
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
    UPDATE schema_views v SET refresh_milliseconds = extract(epoch FROM clock_timestamp() - began) * 1000 WHERE v.name = source;
END $$;
