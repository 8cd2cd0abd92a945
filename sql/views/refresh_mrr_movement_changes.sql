-- What do the subscriptions that changed add to refresh_mrr_movement_totals?
CREATE OR REPLACE VIEW refresh_mrr_movement_changes AS
SELECT
    app_id, month, currency,
    sum(sign * amount) FILTER (WHERE kind = 'new') AS new_milliunits,
    sum(sign * amount) FILTER (WHERE kind = 'reactivation') AS reactivation_milliunits,
    sum(sign * amount) FILTER (WHERE kind = 'expansion') AS expansion_milliunits,
    sum(sign * amount) FILTER (WHERE kind = 'contraction') AS contraction_milliunits,
    sum(sign * amount) FILTER (WHERE kind = 'churn') AS churn_milliunits,
    sum(sign * amount) FILTER (WHERE kind = 'switched in') AS switched_in_milliunits,
    sum(sign * amount) FILTER (WHERE kind = 'switched out') AS switched_out_milliunits,
    sum(sign) FILTER (WHERE kind = 'new') AS new_subscriptions,
    sum(sign) FILTER (WHERE kind = 'reactivation') AS reactivated_subscriptions,
    sum(sign) FILTER (WHERE kind = 'expansion') AS expanded_subscriptions,
    sum(sign) FILTER (WHERE kind = 'contraction') AS contracted_subscriptions,
    sum(sign) FILTER (WHERE kind = 'churn') AS churned_subscriptions
FROM (
    SELECT s.sign, s.app_id, e.month, s.currency, e.kind, e.amount
    FROM (SELECT *, coalesce(mrr_milliunits, 0) AS mrr FROM refresh_changed_month_steps) s
    CROSS JOIN LATERAL (VALUES (
        s.from_month,
        CASE
            WHEN s.before_until_month IS NULL AND s.first_paid_month >= s.from_month THEN 'new'
            WHEN s.before_until_month IS NULL OR s.before_until_month < s.from_month THEN 'reactivation'
            WHEN s.before_currency IS DISTINCT FROM s.currency THEN 'switched in'
            WHEN s.mrr > s.before_mrr THEN 'expansion'
            WHEN s.mrr < s.before_mrr THEN 'contraction'
        END,
        CASE WHEN s.before_until_month = s.from_month AND s.before_currency IS NOT DISTINCT FROM s.currency
             THEN abs(s.mrr - s.before_mrr) ELSE s.mrr END
    ), (
        s.until_month,
        CASE
            WHEN s.until_month IS NULL THEN NULL
            WHEN s.after_from_month IS DISTINCT FROM s.until_month THEN 'churn'
            WHEN s.after_currency IS DISTINCT FROM s.currency THEN 'switched out'
        END,
        s.mrr
    )) e (month, kind, amount)
) movement
WHERE kind IS NOT NULL
GROUP BY app_id, month, currency;
