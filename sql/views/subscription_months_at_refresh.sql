-- Which active months do materialised views count?
--
-- The rows of subscription_months, which a refresh computes once. No role has the
-- right to read this view.
CREATE OR REPLACE VIEW subscription_months_at_refresh AS
SELECT kept.* FROM kept_subscription_months kept
UNION ALL
SELECT shown.* FROM unless_kept(NULL::kept_subscription_months) shown;
COMMENT ON VIEW subscription_months_at_refresh IS
    'The rows of subscription_months, computed once in a refresh. Only for materialised views.';
