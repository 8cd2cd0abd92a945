-- How does a role that does not own crawl_items tell the planner that the table has grown?
--
-- ANALYZE is for a table's owner (MAINTAIN is a right only since PostgreSQL 17), and who loads owns nothing. The path is
-- fixed, with pg_temp last, so that the caller's own tables and functions are never taken for the ledger's.
CREATE FUNCTION analyze_crawl_items() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    ANALYZE crawl_items;
END $$;

COMMENT ON FUNCTION analyze_crawl_items IS 'Refreshes the planner''s statistics of crawl_items, for a role that does not own it.';
