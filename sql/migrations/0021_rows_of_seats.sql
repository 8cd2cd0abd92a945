-- Which rows of actions are about the seats of a purchaser, or about a member? Their subject is neither of them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS action_rows_seat_subscription ON action_rows (app_id, (parameters ->> 'original_transaction_id'))
 WHERE subject IS DISTINCT FROM parameters ->> 'original_transaction_id' AND parameters ->> 'original_transaction_id' IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS action_rows_member ON action_rows (app_id, (parameters ->> 'app_transaction_id'))
 WHERE parameters ->> 'app_transaction_id' IS NOT NULL;
