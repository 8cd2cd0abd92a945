-- What do the subscriptions that changed add to refresh_status_totals?
CREATE OR REPLACE VIEW refresh_status_changes AS
SELECT
    app_id, product_id, storefront, currency, status,
    sum(sign) AS subscriptions,
    sum(sign) FILTER (WHERE is_paid) AS paid,
    sum(sign) FILTER (WHERE is_trial AND NOT is_family_shared) AS trials,
    sum(sign) FILTER (WHERE is_family_shared) AS family_shared,
    sum(sign) FILTER (WHERE will_renew) AS will_renew,
    sum(sign) FILTER (WHERE NOT will_renew) AS will_not_renew,
    sum(sign * mrr_milliunits) FILTER (WHERE status IN ('active', 'grace period')) AS mrr_milliunits,
    sum(sign) FILTER (WHERE is_trial AND NOT is_family_shared AND NOT will_renew) AS trials_will_not_renew,
    sum(sign) FILTER (WHERE is_reported_by_apple) AS reported_by_apple
FROM refresh_changed_subscriptions
GROUP BY app_id, product_id, storefront, currency, status;
