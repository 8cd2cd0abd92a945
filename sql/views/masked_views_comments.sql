-- What does each column of a masked view mean?
--
-- The same as in its table. Comes last by its name, and copies the tables' comments, so that nothing is said twice.
DO $$
DECLARE
    missing record;
BEGIN
    FOR missing IN
        SELECT shown.attrelid::regclass AS masked, shown.attname, col_description(told.attrelid, told.attnum) AS words
          FROM pg_class view
          JOIN pg_class source ON source.relnamespace = view.relnamespace
                              AND 'masked_' || source.relname = view.relname
          JOIN pg_attribute shown ON shown.attrelid = view.oid
          JOIN pg_attribute told ON told.attrelid = source.oid AND told.attname = shown.attname
         WHERE view.relkind = 'v' AND view.relnamespace = current_schema()::regnamespace
           AND col_description(told.attrelid, told.attnum) IS NOT NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', missing.masked, missing.attname, missing.words);
    END LOOP;
END $$;
