-- How does an erasure find each of a customer's rows by an index?
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_app_transaction_id ON notifications (app_id, app_transaction_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_app_transaction_id ON refunds (app_id, app_transaction_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_app_account_token ON refunds (app_id, app_account_token);
CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_records_item_key ON rejected_records (app_id, item_key);
-- notifications_app_transaction_id serves all it served.
DROP INDEX CONCURRENTLY IF EXISTS notifications_without_transaction;
