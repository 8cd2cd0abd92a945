-- How does an erasure find each of a customer's rows by an index?
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_app_transaction_id ON notifications (app_id, app_transaction_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_app_transaction_id ON refunds (app_id, app_transaction_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_app_account_token ON refunds (app_id, app_account_token);
-- Most rejects have the key of a window, so statistics say little of the others. With the key first, and a condition on the
-- app that no index fits, a look-up has no other index to choose.
CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_records_item_key ON rejected_records (item_key, app_id);
-- notifications_app_transaction_id serves all it served.
DROP INDEX CONCURRENTLY IF EXISTS notifications_without_transaction;
