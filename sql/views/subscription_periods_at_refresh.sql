-- Which subscription periods do materialised views count?
--
-- The rows of subscription_periods, which a verification computes once (kept_subscription_periods). No role has the right to read this
-- view. It has the columns that the table had when the view was made, so a migration that adds one changes this file, too.
CREATE OR REPLACE VIEW subscription_periods_at_refresh AS
SELECT kept.* FROM kept_subscription_periods AS kept
UNION ALL
SELECT shown.* FROM unless_kept(NULL::kept_subscription_periods) AS shown;
COMMENT ON VIEW subscription_periods_at_refresh IS
    'The rows of subscription_periods, computed once in a refresh. Only for materialised views.';
