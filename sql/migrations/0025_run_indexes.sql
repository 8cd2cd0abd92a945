-- Which items does a run have, and which customers' refunds are due, without a look at all other items?
--
-- The index of runs does not begin with app_id: a plan that is made while the table is small would take it for as good as
-- the primary key, and read all items of the job for every page.
CREATE INDEX CONCURRENTLY IF NOT EXISTS crawl_items_by_run ON crawl_items (run_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS crawl_items_refunds_due ON crawl_items (app_id, job) WHERE refunds_due;
DROP INDEX CONCURRENTLY IF EXISTS crawl_items_revoked;
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_refunds ON notifications (app_id, first_seen_at) WHERE notification_type = 'REFUND';
