-- How much of today's MRR will expire in which month?
--
-- An active subscription is at risk if auto-renewal is off, or if it is in its grace period because a payment failed. Only
-- renewal info of the current period counts. Subscriptions without it are counted in renewal_unknown and not as at risk.
-- A subscription in billing retry without a grace period is not active and has no MRR.
-- A subscription that is active only by Apple's own status is in no month, because the end of its period is unknown.
-- A subscription whose period has not ended, but which Apple's own status does not call active, has no MRR and is not counted in
-- subscriptions. Apple does not sign that status, so the columns reported_by_apple and not_active_by_apple count where it was used.
--
-- One row for each app_id, month, product_id, storefront, currency.
-- Readers: loader, exporter, actor, analyst.
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

CREATE OR REPLACE VIEW mrr_at_risk_by_month AS
SELECT
    app_id, month, product_id, storefront, currency, subscriptions, mrr_milliunits, will_not_renew,
    will_not_renew_mrr_milliunits, in_grace_period, in_grace_period_mrr_milliunits, at_risk_mrr_milliunits, renewal_unknown,
    mrr_milliunits * 0.001 AS mrr_amount,
    will_not_renew_mrr_milliunits * 0.001 AS will_not_renew_mrr_amount,
    in_grace_period_mrr_milliunits * 0.001 AS in_grace_period_mrr_amount,
    at_risk_mrr_milliunits * 0.001 AS at_risk_mrr_amount,
    reported_by_apple, not_active_by_apple
FROM refresh_mrr_at_risk_totals;
COMMENT ON VIEW mrr_at_risk_by_month IS
    'Paid subscriptions that are active as of the last refresh, by the month in which their period ends, and the part of their MRR that is at risk. Before Apple''s commission and tax.';
COMMENT ON COLUMN mrr_at_risk_by_month.month IS 'The month in which the current period ends; its first day, in UTC.';
COMMENT ON COLUMN mrr_at_risk_by_month.product_id IS 'The product of the current period.';
COMMENT ON COLUMN mrr_at_risk_by_month.subscriptions IS 'Active paid subscriptions whose period ends in the month.';
COMMENT ON COLUMN mrr_at_risk_by_month.mrr_milliunits IS 'MRR of these subscriptions, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.will_not_renew IS 'Active paid subscriptions with auto-renewal off.';
COMMENT ON COLUMN mrr_at_risk_by_month.will_not_renew_mrr_milliunits IS 'MRR of the subscriptions in the previous column, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.in_grace_period IS 'Other subscriptions in their grace period: the payment failed and Apple still retries.';
COMMENT ON COLUMN mrr_at_risk_by_month.in_grace_period_mrr_milliunits IS 'MRR of the subscriptions in the previous column, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.at_risk_mrr_milliunits IS 'MRR at risk: the sum of will_not_renew_mrr_milliunits and in_grace_period_mrr_milliunits, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_at_risk_by_month.renewal_unknown IS 'Active paid subscriptions without renewal info of the current period. Whether they will renew is unknown.';
COMMENT ON COLUMN mrr_at_risk_by_month.reported_by_apple IS 'Active paid subscriptions whose state is Apple''s own status, which Apple does not sign.';
COMMENT ON COLUMN mrr_at_risk_by_month.not_active_by_apple IS
    'Other paid subscriptions whose period ends in the month by the signed records, but whose newer status of Apple is not active, such as revoked. They are in no other column.';
