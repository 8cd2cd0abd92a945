-- Which transactions have no price yet?
CREATE INDEX CONCURRENTLY IF NOT EXISTS transactions_without_price ON transactions (app_id, transaction_id) WHERE price_milliunits IS NULL;
