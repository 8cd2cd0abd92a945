-- What does mrr_at_risk_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of mrr_at_risk_by_month.
CREATE OR REPLACE VIEW refresh_mrr_at_risk_by_month_from_scratch AS
SELECT
    app_id, date_trunc('month', ends_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
    count(*) FILTER (WHERE is_active) AS subscriptions,
    coalesce(sum(mrr_milliunits) FILTER (WHERE is_active), 0)::bigint AS mrr_milliunits,
    count(*) FILTER (WHERE is_active AND NOT will_renew) AS will_not_renew,
    coalesce(sum(mrr_milliunits) FILTER (WHERE is_active AND NOT will_renew), 0)::bigint AS will_not_renew_mrr_milliunits,
    count(*) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE) AS in_grace_period,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE), 0)::bigint AS in_grace_period_mrr_milliunits,
    coalesce(sum(mrr_milliunits) FILTER (WHERE is_active AND (NOT will_renew OR status = 'grace period')), 0)::bigint AS at_risk_mrr_milliunits,
    count(*) FILTER (WHERE is_active AND will_renew IS NULL) AS renewal_unknown,
    coalesce(sum(mrr_milliunits) FILTER (WHERE is_active), 0) * 0.001 AS mrr_amount,
    coalesce(sum(mrr_milliunits) FILTER (WHERE is_active AND NOT will_renew), 0) * 0.001 AS will_not_renew_mrr_amount,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE), 0) * 0.001 AS in_grace_period_mrr_amount,
    coalesce(sum(mrr_milliunits) FILTER (WHERE is_active AND (NOT will_renew OR status = 'grace period')), 0) * 0.001 AS at_risk_mrr_amount,
    count(*) FILTER (WHERE is_active AND is_reported_by_apple) AS reported_by_apple,
    count(*) FILTER (WHERE NOT is_active) AS not_active_by_apple
FROM (SELECT c.*, status IN ('active', 'grace period') AS is_active FROM current_subscriptions_at_refresh c) c
WHERE is_paid AND (is_active OR is_reported_by_apple) AND ends_at > now()
GROUP BY app_id, date_trunc('month', ends_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency;
