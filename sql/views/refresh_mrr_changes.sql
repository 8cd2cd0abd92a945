-- What do the subscriptions that changed add to refresh_mrr_totals?
CREATE OR REPLACE VIEW refresh_mrr_changes AS
SELECT
    s.app_id, e.month, s.product_id, s.period, s.storefront, s.currency,
    sum(s.sign * e.step) AS subscriptions,
    sum(s.sign * e.step) FILTER (WHERE s.mrr_milliunits IS NULL) AS without_mrr,
    sum(s.sign * e.step * s.mrr_milliunits) AS mrr_milliunits
FROM refresh_changed_month_spans s
CROSS JOIN LATERAL (VALUES (s.from_month, 1), (s.until_month, -1)) e (month, step)
WHERE e.month IS NOT NULL AND NOT s.is_beside
GROUP BY s.app_id, e.month, s.product_id, s.period, s.storefront, s.currency;
