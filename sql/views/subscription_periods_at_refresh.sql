-- Which stretches do materialised views count?
--
-- Those of subscription_periods, which a refresh computes once; see sql/migrations/0013_refresh_base.sql. No role is granted it.
CREATE OR REPLACE VIEW subscription_periods_at_refresh AS
SELECT kept.* FROM kept_subscription_periods kept
UNION ALL
SELECT shown.* FROM unless_kept(NULL::kept_subscription_periods) shown;
COMMENT ON VIEW subscription_periods_at_refresh IS
    'For materialised views alone: what subscription_periods shows, computed once in a refresh.';
