-- When did a row change last, where it was loaded by COPY, and how does the planner learn that tables have grown?
--
-- COPY cannot call now(): what it does not name takes its default.
ALTER TABLE transactions ALTER COLUMN last_changed_at SET DEFAULT now();
ALTER TABLE refunds ALTER COLUMN last_changed_at SET DEFAULT now();
ALTER TABLE renewals ALTER COLUMN last_changed_at SET DEFAULT now();
ALTER TABLE notifications ALTER COLUMN last_changed_at SET DEFAULT now();

-- The views of a first sync were computed over tables that the planner took for empty. Autovacuum would tell it, but looks
-- once a minute, and a size is known at once. Nobody is waited for: who holds a table's lock is likely to be at the same.
-- crawl_items has a function of its own.
CREATE FUNCTION analyze_grown_tables() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    grown regclass;
BEGIN
    FOR grown IN
        SELECT c.oid FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> 'crawl_items'
           AND pg_relation_size(c.oid) > greatest(65536, 1.2 * c.relpages * current_setting('block_size')::integer)
         ORDER BY c.relname
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
    END LOOP;
END $$;
COMMENT ON FUNCTION analyze_grown_tables IS
    'Refreshes the planner''s statistics of tables that have grown by a fifth since they had any, for a role that does not own them.';
