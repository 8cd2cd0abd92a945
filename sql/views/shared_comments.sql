-- What do the columns mean that a view takes unchanged from a table?
--
-- The view's column gets the comment of the table's column, so that the text exists once. A masked view uses the table of
-- the same name, other views use transactions. An analyst can read masked_apps, not apps. A decimal amount, NAME_amount, is NAME_milliunits in whole units: docs/analysts/metrics.md. A
-- converted view has amounts in reporting_currency. The file creates no view, so the migrator runs it after all files that do.
DO $$
DECLARE
    missing record;
BEGIN
    FOR missing IN
        SELECT shown.attrelid::regclass AS viewed, shown.attname, view.relkind,
               col_description(described.attrelid, described.attnum) AS words
          FROM pg_class view
          JOIN pg_class source ON source.relnamespace = view.relnamespace AND source.relkind IN ('r', 'p')
                              AND source.relname = CASE WHEN view.relname LIKE 'masked\_%' THEN substr(view.relname, 8)
                                                        ELSE 'transactions' END
          JOIN pg_attribute shown ON shown.attrelid = view.oid
          JOIN pg_attribute described ON described.attrelid = source.oid AND described.attname = shown.attname AND described.attnum > 0
         WHERE view.relkind IN ('v', 'm') AND view.relnamespace = current_schema()::regnamespace
           AND (view.relname LIKE 'masked\_%' OR col_description(shown.attrelid, shown.attnum) IS NULL)
           AND col_description(described.attrelid, described.attnum) IS NOT NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', missing.viewed, missing.attname,
                       replace(missing.words, 'see apps.', 'see masked_apps.'));
    END LOOP;
    FOR missing IN
        SELECT amount.attrelid::regclass AS viewed, amount.attname, whole.attname AS of,
               CASE WHEN view.relname LIKE '%\_converted\_%' THEN 'reporting_currency' ELSE 'the currency' END AS unit
          FROM pg_class view
          JOIN pg_attribute amount ON amount.attrelid = view.oid AND amount.attname LIKE '%\_amount' AND amount.atttypid = 'numeric'::regtype
          JOIN pg_attribute whole ON whole.attrelid = view.oid
                                 AND whole.attname IN (left(amount.attname, -6) || 'milliunits', amount.attname || '_milliunits')
         WHERE view.relkind IN ('v', 'm') AND view.relnamespace = current_schema()::regnamespace
           AND col_description(amount.attrelid, amount.attnum) IS NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', missing.viewed, missing.attname,
                       missing.of || ' as a decimal amount in units of ' || missing.unit || '.');
    END LOOP;
END $$;
