-- How much of today's recurring revenue will expire in which month?
--
-- Of the subscriptions that are active now, those are at risk whose renewal is switched off, and those in their grace period, whose
-- payment failed. What renewal info of the running period says counts; where there is none, the subscription is in renewal_unknown
-- and not at risk. Billing retry without a grace period is no MRR any more. A subscription that is active by Apple's own status
-- alone is in no month, because the end of its period is not known.
CREATE MATERIALIZED VIEW IF NOT EXISTS mrr_at_risk_by_month AS
SELECT
    app_id, date_trunc('month', ends_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
    count(*) AS subscriptions,
    coalesce(sum(mrr_milliunits), 0)::bigint AS mrr_milliunits,
    count(*) FILTER (WHERE NOT will_renew) AS will_not_renew,
    coalesce(sum(mrr_milliunits) FILTER (WHERE NOT will_renew), 0)::bigint AS will_not_renew_mrr_milliunits,
    count(*) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE) AS in_grace_period,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE), 0)::bigint AS in_grace_period_mrr_milliunits,
    coalesce(sum(mrr_milliunits) FILTER (WHERE NOT will_renew OR status = 'grace period'), 0)::bigint AS at_risk_mrr_milliunits,
    count(*) FILTER (WHERE will_renew IS NULL) AS renewal_unknown,
    coalesce(sum(mrr_milliunits), 0) * 0.001 AS mrr_amount,
    coalesce(sum(mrr_milliunits) FILTER (WHERE NOT will_renew), 0) * 0.001 AS will_not_renew_mrr_amount,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status = 'grace period' AND will_renew IS NOT FALSE), 0) * 0.001 AS in_grace_period_mrr_amount,
    coalesce(sum(mrr_milliunits) FILTER (WHERE NOT will_renew OR status = 'grace period'), 0) * 0.001 AS at_risk_mrr_amount
FROM current_subscriptions_at_refresh
WHERE is_paid AND status IN ('active', 'grace period') AND ends_at > now()
GROUP BY app_id, date_trunc('month', ends_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS mrr_at_risk_by_month_key
    ON mrr_at_risk_by_month (app_id, month, product_id, storefront, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW mrr_at_risk_by_month IS
    'Paid subscriptions that are active as of the last refresh, by the month in which their period ends, and how much of their MRR will not renew. Gross, before Apple''s commission and tax.';
COMMENT ON COLUMN mrr_at_risk_by_month.month IS 'The month in which the running period ends; its first day, in UTC.';
COMMENT ON COLUMN mrr_at_risk_by_month.product_id IS 'The product of the running period.';
COMMENT ON COLUMN mrr_at_risk_by_month.subscriptions IS 'Active paid subscriptions whose period ends in the month.';
COMMENT ON COLUMN mrr_at_risk_by_month.mrr_milliunits IS 'Their MRR, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.will_not_renew IS 'How many of them have renewal switched off.';
COMMENT ON COLUMN mrr_at_risk_by_month.will_not_renew_mrr_milliunits IS 'MRR of those, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.in_grace_period IS 'How many others are in their grace period: the payment failed, and Apple still tries.';
COMMENT ON COLUMN mrr_at_risk_by_month.in_grace_period_mrr_milliunits IS 'MRR of those, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.at_risk_mrr_milliunits IS 'MRR of both together, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.renewal_unknown IS 'Subscriptions without renewal info of the running period: whether they renew is not known.';
