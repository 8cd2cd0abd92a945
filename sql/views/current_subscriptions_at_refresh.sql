-- Which subscriptions does subscriptions_by_status count?
--
-- The rows of current_subscriptions, which a refresh computes once; see sql/migrations/0013_refresh_base.sql. No role has
-- the right to read this view.
CREATE OR REPLACE VIEW current_subscriptions_at_refresh AS
SELECT kept.* FROM kept_current_subscriptions kept
UNION ALL
SELECT shown.* FROM unless_kept(NULL::kept_current_subscriptions) shown;
COMMENT ON VIEW current_subscriptions_at_refresh IS
    'The rows of current_subscriptions, computed once in a refresh. Only for materialised views.';
