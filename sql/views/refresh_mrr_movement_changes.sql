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
    SELECT
        sign, app_id, from_month AS month, currency,
        CASE
            WHEN before_until_month IS NULL AND first_paid_month >= from_month THEN 'new'
            WHEN before_until_month IS NULL OR before_until_month < from_month THEN 'reactivation'
            WHEN before_currency IS DISTINCT FROM currency THEN 'switched in'
            WHEN mrr > before_mrr THEN 'expansion'
            WHEN mrr < before_mrr THEN 'contraction'
        END AS kind,
        CASE WHEN before_until_month = from_month AND before_currency IS NOT DISTINCT FROM currency
             THEN abs(mrr - before_mrr) ELSE mrr END AS amount
    FROM (SELECT *, coalesce(mrr_milliunits, 0) AS mrr FROM refresh_changed_month_steps) s
    UNION ALL
    SELECT
        sign, app_id, until_month, currency,
        CASE
            WHEN after_from_month IS DISTINCT FROM until_month THEN 'churn'
            WHEN after_currency IS DISTINCT FROM currency THEN 'switched out'
        END,
        coalesce(mrr_milliunits, 0)
    FROM refresh_changed_month_steps
    WHERE until_month IS NOT NULL
) movement
WHERE kind IS NOT NULL
GROUP BY app_id, month, currency;
