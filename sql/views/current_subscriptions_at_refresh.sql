-- Which subscriptions does subscriptions_by_status count?
--
-- The rows of current_subscriptions, which a refresh computes once. No role has
-- the right to read this view.
CREATE OR REPLACE VIEW current_subscriptions_at_refresh AS
SELECT app_id, product_id, storefront, currency, status, is_paid, is_trial, is_family_shared, will_renew, mrr_milliunits, ends_at,
       is_reported_by_apple
  FROM kept_current_subscriptions
UNION ALL
SELECT app_id, product_id, storefront, currency, status, is_paid, is_trial, is_family_shared, will_renew, mrr_milliunits, ends_at,
       is_reported_by_apple
  FROM unless_kept(NULL::kept_current_subscriptions);
COMMENT ON VIEW current_subscriptions_at_refresh IS
    'The rows of current_subscriptions, computed once in a refresh. Only for materialised views.';
