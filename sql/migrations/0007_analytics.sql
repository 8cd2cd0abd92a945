-- What does only the user know: what a product is called, what a currency is worth, what Apple and the tax office keep?
--
-- Nobody but the user writes here, and nothing asks for it: views that need a row and find none show NULL or nothing.

CREATE TABLE products (
    app_id integer NOT NULL REFERENCES apps,
    product_id text NOT NULL,
    display_name text,
    product_group text,
    period text CHECK (period ~ '^P[1-9][0-9]{0,2}[DWMY]$'),
    PRIMARY KEY (app_id, product_id)
);
COMMENT ON TABLE products IS 'What the user says of the products; filled by the user, if at all.';
COMMENT ON COLUMN products.app_id IS 'The app, in apps.';
COMMENT ON COLUMN products.product_id IS 'Apple''s productId.';
COMMENT ON COLUMN products.display_name IS 'What people call it.';
COMMENT ON COLUMN products.product_group IS 'A group of the user''s own, to add up by.';
COMMENT ON COLUMN products.period IS 'The subscription''s period as an ISO 8601 duration of one unit, such as P1W, P1M or P1Y; goes before what the dates suggest.';

CREATE TABLE exchange_rates (
    app_id integer NOT NULL REFERENCES apps,
    reporting_currency text NOT NULL CHECK (reporting_currency ~ '^[A-Z]{3}$'),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    valid_from date NOT NULL,
    rate numeric NOT NULL CHECK (rate > 0),
    PRIMARY KEY (app_id, reporting_currency, currency, valid_from)
);
COMMENT ON TABLE exchange_rates IS 'What a currency is worth in another; filled by the user, if at all.';
COMMENT ON COLUMN exchange_rates.app_id IS 'The app, in apps.';
COMMENT ON COLUMN exchange_rates.reporting_currency IS 'The currency to convert to, by its ISO 4217 code.';
COMMENT ON COLUMN exchange_rates.currency IS 'The currency to convert from, by its ISO 4217 code.';
COMMENT ON COLUMN exchange_rates.valid_from IS 'The first day of the rate, which holds until the next row''s.';
COMMENT ON COLUMN exchange_rates.rate IS 'How many units of reporting_currency one unit of currency is worth.';

CREATE TABLE proceeds_rules (
    app_id integer NOT NULL REFERENCES apps,
    storefront text NOT NULL DEFAULT '*',
    valid_from date NOT NULL,
    tax numeric NOT NULL CHECK (tax >= 0 AND tax < 2),
    commission numeric NOT NULL CHECK (commission BETWEEN 0 AND 1),
    PRIMARY KEY (app_id, storefront, valid_from)
);
COMMENT ON TABLE proceeds_rules IS 'What tax and Apple take of a price; filled by the user, if at all.';
COMMENT ON COLUMN proceeds_rules.app_id IS 'The app, in apps.';
COMMENT ON COLUMN proceeds_rules.storefront IS 'Apple''s storefront, three letters; * for all that have no rule of their own.';
COMMENT ON COLUMN proceeds_rules.valid_from IS 'The first day of the rule, which holds until the next row''s of the storefront.';
COMMENT ON COLUMN proceeds_rules.tax IS 'Tax that the price includes, as a share of the price without it: 0.19 where VAT is 19%.';
COMMENT ON COLUMN proceeds_rules.commission IS 'Apple''s share of the price without tax, 0 to 1: 0.3, or 0.15 for a small business.';

-- Brings the materialised views up to date, all from one snapshot when the caller's transaction has one.
--
-- REFRESH is for a view's owner, and who loads owns nothing. Readers go on reading what was there. One at a time: a second
-- caller waits. Which views there are, and in which order, the migrator has filed in schema_views.
CREATE FUNCTION refresh_views(only_empty boolean DEFAULT false)
RETURNS TABLE (view_name text, view_rows bigint, milliseconds bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET lock_timeout = '10min' AS $$
DECLARE
    began     timestamptz;
    populated boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('storeledger refresh ' || current_schema(), 0));
    FOR view_name, populated IN
        SELECT c.relname::text, c.relispopulated
          FROM schema_views v
          JOIN pg_class c ON c.relname = v.name AND c.relkind = 'm' AND c.relnamespace = current_schema()::regnamespace
         WHERE v.is_materialized AND NOT (only_empty AND c.relispopulated)
         ORDER BY v.position
    LOOP
        began := clock_timestamp();
        EXECUTE format('REFRESH MATERIALIZED VIEW %s %I', CASE WHEN populated THEN 'CONCURRENTLY' END, view_name);
        EXECUTE format('SELECT count(*) FROM %I', view_name) INTO view_rows;
        milliseconds := extract(epoch FROM clock_timestamp() - began) * 1000;
        UPDATE schema_views v SET refreshed_at = now(), refresh_milliseconds = milliseconds, row_count = view_rows
         WHERE v.name = view_name;
        RETURN NEXT;
    END LOOP;
END $$;

COMMENT ON FUNCTION refresh_views IS 'Brings the materialised views up to date, or only those that were never filled; for a role that does not own them.';
