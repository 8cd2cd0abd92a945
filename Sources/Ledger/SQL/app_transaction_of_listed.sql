-- The app transaction of the customer with a listed ID, from the ledger's transactions.
--
-- All transactions that were found under a listed ID belong to one customer.
SELECT coalesce(
    (SELECT t.app_transaction_id FROM transactions t WHERE t.app_id = :app::integer AND t.transaction_id = :listed_id::text LIMIT 1),
    (SELECT t.app_transaction_id FROM transactions t
      WHERE t.app_id = :app AND t.listed_transaction_id = :listed_id AND t.app_transaction_id IS NOT NULL LIMIT 1)) AS id
