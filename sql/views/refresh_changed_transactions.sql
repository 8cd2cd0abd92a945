-- Which transactions of what changed are counted so far, and which replace them?
--
-- As refresh_changed_periods, for transactions: rows that differ. What a transaction counts never depends on the time.
CREATE OR REPLACE VIEW refresh_changed_transactions AS
SELECT -1 AS sign, b.* FROM refresh_transactions_before b
UNION ALL
SELECT 1, a.* FROM refresh_transactions_after a
UNION ALL
SELECT 1, s.* FROM refresh_stored_transactions s WHERE (SELECT is_rebuild FROM refresh_state);
