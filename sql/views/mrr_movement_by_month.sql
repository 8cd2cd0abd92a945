-- Why did MRR grow or shrink this month?
--
-- closing = opening + new + reactivation + expansion - contraction - churn + switched_in - switched_out, always. Each
-- subscription's MRR at the end of the month is compared with its MRR at the end of the previous month. So a subscription
-- that lapsed and came back within a month has no movement, as in RevenueCat. A subscription is new only in the month of
-- its first payment. If it was paid before, lapsed before the end of that month, and is active at the end of a later month,
-- it is a reactivation, although it was not active at the end of any earlier month.
CREATE MATERIALIZED VIEW IF NOT EXISTS mrr_movement_by_month AS
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
GROUP BY app_id, month, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS mrr_movement_by_month_key
    ON mrr_movement_by_month (app_id, month, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW mrr_movement_by_month IS
    'The change of MRR from the end of one month to the next, by currency: new, reactivation, expansion, contraction, churn. Before Apple''s commission and tax. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN mrr_movement_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_movement_by_month.opening_milliunits IS 'MRR at the end of the previous month, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.new_milliunits IS 'MRR of subscriptions whose first payment was in the month, including converted trials; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.reactivation_milliunits IS 'MRR of subscriptions that were paid for in an earlier month and were not active at the end of the previous month; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.expansion_milliunits IS 'Increase of MRR since the end of the previous month: upgrades, higher prices, ended offers; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.contraction_milliunits IS 'Decrease of MRR since the end of the previous month, as a positive number; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.churn_milliunits IS 'MRR of subscriptions that were active at the end of the previous month and are not active any more, as a positive number; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.switched_in_milliunits IS 'MRR of subscriptions that were paid in another currency at the end of the previous month; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.switched_out_milliunits IS 'MRR at the end of the previous month of subscriptions that are now paid in another currency, as a positive number; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.closing_milliunits IS 'MRR at the end of the month, in thousandths of a unit of currency: opening + new + reactivation + expansion - contraction - churn + switched in - switched out.';
COMMENT ON COLUMN mrr_movement_by_month.opening_subscriptions IS 'Active paid subscriptions at the end of the previous month.';
COMMENT ON COLUMN mrr_movement_by_month.new_subscriptions IS 'Subscriptions whose first payment was in the month.';
COMMENT ON COLUMN mrr_movement_by_month.reactivated_subscriptions IS 'Subscriptions that were paid for in an earlier month, were not active at the end of the previous month, and are active again.';
COMMENT ON COLUMN mrr_movement_by_month.expanded_subscriptions IS 'Subscriptions whose MRR is higher than at the end of the previous month.';
COMMENT ON COLUMN mrr_movement_by_month.contracted_subscriptions IS 'Subscriptions whose MRR is lower than at the end of the previous month.';
COMMENT ON COLUMN mrr_movement_by_month.churned_subscriptions IS 'Subscriptions that were active at the end of the previous month and are not active any more.';
COMMENT ON COLUMN mrr_movement_by_month.closing_subscriptions IS 'Active paid subscriptions at the end of the month.';
