-- Which subscription periods do materialised views count?
--
-- The rows of subscription_periods, which a refresh computes once. No role has the
-- right to read this view.
CREATE OR REPLACE VIEW subscription_periods_at_refresh AS
SELECT kept.* FROM kept_subscription_periods kept
UNION ALL
SELECT shown.* FROM unless_kept(NULL::kept_subscription_periods) shown;
COMMENT ON VIEW subscription_periods_at_refresh IS
    'The rows of subscription_periods, computed once in a refresh. Only for materialised views.';
