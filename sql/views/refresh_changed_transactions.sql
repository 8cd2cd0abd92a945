-- Which transactions of what changed are counted so far, and which replace them?
--
-- As refresh_changed_periods, for transactions: rows that differ. What a transaction counts never depends on the time.
CREATE OR REPLACE VIEW refresh_changed_transactions AS
SELECT * FROM refresh_transactions_changed WHERE NOT is_beside;
