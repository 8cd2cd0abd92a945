-- Which notifications and renewal infos have a customer's appAccountToken?
CREATE INDEX CONCURRENTLY notifications_app_account_token ON notifications (app_id, app_account_token) WHERE app_account_token IS NOT NULL;
CREATE INDEX CONCURRENTLY renewals_app_account_token ON renewals (app_id, app_account_token) WHERE app_account_token IS NOT NULL;
