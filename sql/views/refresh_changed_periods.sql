-- Which periods of the subscriptions that changed are counted so far, and which replace them?
--
-- Every total is a sum over subscriptions. A refresh adds to it, for each subscription that changed, what its new
-- rows count (sign 1) less what its old rows counted (sign -1), each as of the moment at which they were computed
-- (as_of). When everything is computed again, all rows are new. Views whose names end in _changes read this view.
CREATE OR REPLACE VIEW refresh_changed_periods AS
SELECT -1 AS sign, b.* FROM refresh_periods_before b
UNION ALL
SELECT 1, a.* FROM refresh_periods_after a
UNION ALL
SELECT 1, s.* FROM refresh_stored_periods s WHERE (SELECT is_rebuild FROM refresh_state);
