-- Which notifications and renewal infos have a customer's appAccountToken?
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_app_account_token ON notifications (app_id, app_account_token) WHERE app_account_token IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS renewals_app_account_token ON renewals (app_id, app_account_token) WHERE app_account_token IS NOT NULL;
