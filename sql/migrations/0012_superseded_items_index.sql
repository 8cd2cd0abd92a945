-- Which items have no result of the run that requested them last?
CREATE INDEX CONCURRENTLY IF NOT EXISTS crawl_items_without_result ON crawl_items (app_id, job, run_id) WHERE state IN ('failed', 'superseded');
DROP INDEX CONCURRENTLY IF EXISTS crawl_items_failed;
