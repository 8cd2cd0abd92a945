-- What does mrr_movement_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of mrr_movement_by_month.
CREATE OR REPLACE VIEW refresh_mrr_movement_by_month_from_scratch AS
WITH state AS (
    -- next_month is the following month; after_month is the next month in which the subscription was active.
    SELECT
        app_id, original_transaction_id, month, next_month, first_paid_month, currency, coalesce(mrr_milliunits, 0) AS mrr,
        lag(next_month) OVER subscription AS before_next_month, lag(currency) OVER subscription AS before_currency,
        coalesce(lag(mrr_milliunits) OVER subscription, 0) AS before_mrr,
        lead(month) OVER subscription AS after_month, lead(currency) OVER subscription AS after_currency
    FROM (SELECT *, (month + interval '1 month')::date AS next_month FROM subscription_months_at_refresh) m
    WINDOW subscription AS (PARTITION BY app_id, original_transaction_id ORDER BY month)
), movement AS (
    SELECT
        app_id, month, currency, 0 AS opening, mrr AS closing, 0 AS opening_count, 1 AS closing_count,
        CASE
            WHEN before_next_month IS NULL AND first_paid_month >= month THEN 'new'
            WHEN before_next_month IS NULL OR before_next_month < month THEN 'reactivation'
            WHEN before_currency IS DISTINCT FROM currency THEN 'switched in'
            WHEN mrr > before_mrr THEN 'expansion'
            WHEN mrr < before_mrr THEN 'contraction'
        END AS kind,
        CASE WHEN before_next_month = month AND before_currency IS NOT DISTINCT FROM currency
             THEN abs(mrr - before_mrr) ELSE mrr END AS amount
    FROM state
    UNION ALL
    SELECT
        app_id, next_month, currency, mrr, 0, 1, 0,
        CASE
            WHEN after_month IS DISTINCT FROM next_month THEN 'churn'
            WHEN after_currency IS DISTINCT FROM currency THEN 'switched out'
        END,
        mrr
    FROM state
    WHERE next_month < (now() AT TIME ZONE 'UTC')
)
SELECT
    app_id, month, currency,
    sum(opening)::bigint AS opening_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'new'), 0)::bigint AS new_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'reactivation'), 0)::bigint AS reactivation_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'expansion'), 0)::bigint AS expansion_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'contraction'), 0)::bigint AS contraction_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'churn'), 0)::bigint AS churn_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'switched in'), 0)::bigint AS switched_in_milliunits,
    coalesce(sum(amount) FILTER (WHERE kind = 'switched out'), 0)::bigint AS switched_out_milliunits,
    sum(closing)::bigint AS closing_milliunits,
    sum(opening_count) AS opening_subscriptions,
    count(*) FILTER (WHERE kind = 'new') AS new_subscriptions,
    count(*) FILTER (WHERE kind = 'reactivation') AS reactivated_subscriptions,
    count(*) FILTER (WHERE kind = 'expansion') AS expanded_subscriptions,
    count(*) FILTER (WHERE kind = 'contraction') AS contracted_subscriptions,
    count(*) FILTER (WHERE kind = 'churn') AS churned_subscriptions,
    sum(closing_count) AS closing_subscriptions,
    sum(opening) * 0.001 AS opening_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'new'), 0) * 0.001 AS new_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'reactivation'), 0) * 0.001 AS reactivation_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'expansion'), 0) * 0.001 AS expansion_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'contraction'), 0) * 0.001 AS contraction_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'churn'), 0) * 0.001 AS churn_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'switched in'), 0) * 0.001 AS switched_in_amount,
    coalesce(sum(amount) FILTER (WHERE kind = 'switched out'), 0) * 0.001 AS switched_out_amount,
    sum(closing) * 0.001 AS closing_amount
FROM movement
GROUP BY app_id, month, currency;
