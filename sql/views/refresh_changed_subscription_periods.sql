-- Which periods have the subscriptions with a changed period, before and after?
--
-- As refresh_changed_periods, with the subscriptions' other periods on both sides (is_beside): what a subscription counts can
-- depend on all of them.
CREATE OR REPLACE VIEW refresh_changed_subscription_periods AS
SELECT * FROM refresh_periods_changed;
