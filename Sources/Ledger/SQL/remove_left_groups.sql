-- Removes the groups of a customer that Apple's newest answer no longer has.
--
-- The rows of that answer have its time, and rows of a later answer stay. A row with another app_transaction_id is from a time when the
-- ledger did not know the customer's app transaction.
DELETE FROM customer_groups g
 WHERE g.app_id = :app::integer AND (g.listed_transaction_id = :listed_id::text OR g.app_transaction_id = :app_transaction_id::text)
   AND (g.asked_at < :asked_at::timestamptz OR g.app_transaction_id <> :app_transaction_id)
