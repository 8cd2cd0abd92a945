-- What are the tables for that only a refresh reads and writes?
--
-- The file creates no view, so the migrator runs it after those that do, and with them the tables of totals.
DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT c.oid::regclass AS name, c.relname, a.attname, a.attnum
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
           AND c.relname ~ '^refresh_(stored_|.*_totals$|keys$|month_steps$|.*_(before|after|changed)$)'
    LOOP
        IF made.attnum = 1 THEN
            EXECUTE format('COMMENT ON TABLE %s IS %L', made.name, CASE
                WHEN made.relname LIKE 'refresh\_stored\_%' THEN 'Rows that the totals count, as of the last refresh; internal to refresh_views().'
                WHEN made.relname LIKE 'refresh\_%\_totals' THEN 'Sums that views show, as of the last refresh; internal to refresh_views().'
                ELSE 'Empty except during a refresh; internal to refresh_views().' END);
        END IF;
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', made.name, made.attname,
                       'Internal to refresh_views(); the view that fills the table says what it means.');
    END LOOP;
END $$;
