-- Which columns do the corrected subscription metrics need in the tables of a refresh?
--
-- A kept_ table holds for the length of a refresh what the view of its name shows; see 0013_refresh_base.sql.

-- The refund of an upgrade, which Apple does not report and subscription_periods estimates.
ALTER TABLE kept_subscription_periods ADD COLUMN estimated_upgrade_refund_milliunits bigint;

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
