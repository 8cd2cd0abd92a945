-- What do the subscriptions that changed add to refresh_mrr_at_risk_totals?
CREATE OR REPLACE VIEW refresh_mrr_at_risk_changes AS
SELECT
    app_id, date_trunc('month', ends_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
    sum(sign) FILTER (WHERE is_active) AS subscriptions,
    sum(sign * mrr_milliunits) FILTER (WHERE is_active) AS mrr_milliunits,
    sum(sign) FILTER (WHERE is_active AND NOT will_renew) AS will_not_renew,
    sum(sign * mrr_milliunits) FILTER (WHERE is_active AND NOT will_renew) AS will_not_renew_mrr_milliunits,
    sum(sign) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE) AS in_grace_period,
    sum(sign * mrr_milliunits) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE) AS in_grace_period_mrr_milliunits,
    sum(sign * mrr_milliunits) FILTER (WHERE is_active AND (NOT will_renew OR status = 'grace period')) AS at_risk_mrr_milliunits,
    sum(sign) FILTER (WHERE is_active AND will_renew IS NULL) AS renewal_unknown,
    sum(sign) FILTER (WHERE is_active AND is_reported_by_apple) AS reported_by_apple,
    sum(sign) FILTER (WHERE NOT is_active) AS not_active_by_apple
FROM (SELECT c.*, status IN ('active', 'grace period') AS is_active FROM refresh_changed_subscriptions c) c
WHERE is_paid AND (is_active OR is_reported_by_apple) AND ends_at > as_of
GROUP BY app_id, date_trunc('month', ends_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency;
