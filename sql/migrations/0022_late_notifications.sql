-- Which notifications came late? They are few, so status need not look through all.
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_late ON notifications (app_id, late_run_id) WHERE late_run_id IS NOT NULL;
