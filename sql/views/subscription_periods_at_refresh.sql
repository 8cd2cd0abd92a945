-- Which stretches do materialised views count?
--
-- Those of subscription_periods, which a refresh computes once; see sql/migrations/0013_refresh_base.sql. No role is granted it.
CREATE OR REPLACE VIEW subscription_periods_at_refresh AS
SELECT * FROM kept_subscription_periods
UNION ALL
SELECT * FROM unless_kept(NULL::kept_subscription_periods);
COMMENT ON VIEW subscription_periods_at_refresh IS
    'For materialised views alone: what subscription_periods shows, computed once in a refresh.';
