-- What was a currency worth on the day of a purchase?
--
-- Rates are of a day and of the ledger, no longer of an app. Rates of several apps that contradict each other stop the migration.
DO $$
DECLARE
    contradiction record;
    reader        record;
BEGIN
    SELECT reporting_currency, currency, valid_from INTO contradiction
      FROM exchange_rates GROUP BY reporting_currency, currency, valid_from HAVING count(DISTINCT rate) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'exchange_rates has different rates from % to % of % for several apps; rates now belong to the ledger: make them equal or delete all but one, and run migrate again',
            contradiction.currency, contradiction.reporting_currency, contradiction.valid_from;
    END IF;
    -- The views that read the table are made again at the end of the migration. Until then they keep their columns and their grants.
    FOR reader IN
        SELECT v.name, string_agg(format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum) AS columns
          FROM schema_views v
          JOIN pg_class c ON c.relname = v.name AND c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v'
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE EXISTS (SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                        WHERE r.ev_class = c.oid AND d.refobjid = 'exchange_rates'::regclass)
         GROUP BY v.name
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %I AS SELECT %s WHERE false', reader.name, reader.columns);
    END LOOP;
END $$;

DELETE FROM exchange_rates r
 WHERE EXISTS (SELECT FROM exchange_rates e
                WHERE e.reporting_currency = r.reporting_currency AND e.currency = r.currency AND e.valid_from = r.valid_from AND e.app_id < r.app_id);
ALTER TABLE exchange_rates DROP COLUMN app_id;
ALTER TABLE exchange_rates RENAME COLUMN valid_from TO day;
ALTER TABLE exchange_rates ADD PRIMARY KEY (reporting_currency, currency, day);

-- Sales are now converted by day. So the totals by day get a storefront, which the totals by month have already. The totals of payments
-- after a year of paid service get a day in place of the month. The refresh after the migration computes both again, because the
-- definitions of their views changed. Until then the payments of a month are on its first day.
ALTER TABLE refresh_daily_revenue_totals ADD COLUMN storefront text;
ALTER TABLE refresh_daily_revenue_totals
    DROP CONSTRAINT refresh_daily_revenue_totals_app_id_day_product_id_currency_key,
    ADD UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront, currency);
ALTER TABLE refresh_later_payment_totals RENAME COLUMN month TO day;
