-- Which subscriptions have several seats, or periods to which seats were added?
--
-- The view seat_purchases reads these transactions alone. Most ledgers have few or none.
CREATE INDEX CONCURRENTLY IF NOT EXISTS transactions_seats ON transactions (app_id, original_transaction_id, transaction_id)
    WHERE type = 'Auto-Renewable Subscription' AND (quantity > 1 OR additional_transaction_reason IS NOT NULL);
