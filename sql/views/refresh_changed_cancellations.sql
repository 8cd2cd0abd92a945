-- Which cancellations and resumptions of what changed are counted so far, and which replace them?
--
-- As refresh_changed_transactions, for notifications that auto-renewal was turned off or on.
CREATE OR REPLACE VIEW refresh_changed_cancellations AS
SELECT -1 AS sign, b.* FROM refresh_cancellations_before b
UNION ALL
SELECT 1, a.* FROM refresh_cancellations_after a
UNION ALL
SELECT 1, s.* FROM refresh_stored_cancellations s WHERE (SELECT is_rebuild FROM refresh_state);
