-- What are the tables for that only a refresh reads and writes?
DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT c.oid::regclass AS name, c.relname, a.attname, a.attnum
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
           AND c.relname ~ '^(kept_|refresh_(stored_|.*_totals$|keys$|.*_(before|after|beside)$))'
    LOOP
        IF made.attnum = 1 THEN
            EXECUTE format('COMMENT ON TABLE %s IS %L', made.name, CASE
                WHEN made.relname LIKE 'kept\_%' THEN format('The rows of %s while verify_views() compares them with the totals; otherwise empty.', substr(made.relname, 6))
                WHEN made.relname LIKE 'refresh\_stored\_%' THEN 'Rows that the totals count, as of the last refresh; internal to refresh_views().'
                WHEN made.relname LIKE 'refresh\_%\_totals' THEN 'Sums that views show, as of the last refresh; internal to refresh_views().'
                ELSE 'Empty except during a refresh; internal to refresh_views().' END);
        END IF;
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', made.name, made.attname,
                       CASE WHEN made.relname LIKE 'kept\_%' THEN format('As in %s.', substr(made.relname, 6))
                            ELSE 'Internal to refresh_views(); the view that fills the table says what it means.' END);
    END LOOP;
END $$;
