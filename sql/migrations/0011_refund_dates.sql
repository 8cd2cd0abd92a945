-- Which transactions were refunded in a month, without a look at the others?
--
-- Found by scripts/views-bench: with the type in the index, refunded_purchases reads only the rows of the month it is asked for.
DROP INDEX transactions_revoked;
CREATE INDEX transactions_revoked ON transactions (app_id, revocation_date) INCLUDE (transaction_id, revocation_type)
    WHERE revocation_date IS NOT NULL;
