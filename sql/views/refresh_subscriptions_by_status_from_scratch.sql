-- What does subscriptions_by_status show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of subscriptions_by_status.
CREATE OR REPLACE VIEW refresh_subscriptions_by_status_from_scratch AS
SELECT
    app_id, product_id, storefront, currency, status,
    count(*) AS subscriptions,
    count(*) FILTER (WHERE is_paid) AS paid,
    count(*) FILTER (WHERE is_trial AND NOT is_family_shared) AS trials,
    count(*) FILTER (WHERE is_family_shared) AS family_shared,
    count(*) FILTER (WHERE will_renew) AS will_renew,
    count(*) FILTER (WHERE NOT will_renew) AS will_not_renew,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status IN ('active', 'grace period')), 0)::bigint AS mrr_milliunits,
    count(*) FILTER (WHERE is_trial AND NOT is_family_shared AND NOT will_renew) AS trials_will_not_renew,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status IN ('active', 'grace period')), 0) * 0.001 AS mrr_amount,
    count(*) FILTER (WHERE is_reported_by_apple) AS reported_by_apple
FROM current_subscriptions_at_refresh
GROUP BY app_id, product_id, storefront, currency, status;
