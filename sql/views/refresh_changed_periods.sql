-- Which periods are counted so far, and which replace them?
--
-- Every total is a sum over periods or subscriptions. A refresh adds to it what the new rows count (sign 1) less what the
-- old rows counted (sign -1). Old rows counted as of the last refresh, new rows count as of this one (as_of). Rows that are
-- the same before and after are not here: refresh_changed_subscription_periods has them, too. When everything is computed
-- again, all rows are new. Views whose names end in _changes read this view. It has the columns that the table had when it was made, so a
-- migration that adds one changes this file, too.
CREATE OR REPLACE VIEW refresh_changed_periods AS
SELECT * FROM refresh_periods_changed WHERE NOT is_beside;
