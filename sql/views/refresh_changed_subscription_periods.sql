-- Which periods have the subscriptions with a changed period, before and after?
--
-- As refresh_changed_periods, with the subscriptions' other periods on both sides (is_beside): what a subscription counts can
-- depend on all of them.
CREATE OR REPLACE VIEW refresh_changed_subscription_periods AS
SELECT false AS is_beside, p.* FROM refresh_changed_periods p
UNION ALL
SELECT true, -1, (SELECT as_of FROM refresh_state), b.* FROM refresh_periods_beside b
UNION ALL
SELECT true, 1, (SELECT next_as_of FROM refresh_state), b.* FROM refresh_periods_beside b;
