-- Why did recurring revenue grow or shrink this month?
--
-- closing = opening + new + reactivation + expansion - contraction - churn + switched_in - switched_out, always. Each
-- subscription's MRR at the end of the month is compared with that at the end of the month before, so one that lapsed
-- and came back within a month has not moved: RevenueCat nets it, too. A subscription is new in the month of its first
-- payment alone. One that was paid for before, lapsed before a month was over, and is active at the end of a later month is a
-- reactivation, although it was never active at the end of a month.
CREATE MATERIALIZED VIEW IF NOT EXISTS mrr_movement_by_month AS
WITH state AS (
    -- next_month is the one after the month, after_month that in which the subscription was active next.
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
    'From the MRR at the end of one month to the next, by currency: new, reactivation, expansion, contraction, churn. Gross, before Apple''s commission and tax. The month under way is as of the last refresh.';
COMMENT ON COLUMN mrr_movement_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_movement_by_month.opening_milliunits IS 'MRR at the end of the month before, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.new_milliunits IS 'MRR of subscriptions whose first payment was in the month, trials that converted among them.';
COMMENT ON COLUMN mrr_movement_by_month.reactivation_milliunits IS 'MRR of subscriptions that were paid for in an earlier month, and were not active at the end of the month before.';
COMMENT ON COLUMN mrr_movement_by_month.expansion_milliunits IS 'What subscriptions bring more than a month before: upgrades, higher prices, offers that ended.';
COMMENT ON COLUMN mrr_movement_by_month.contraction_milliunits IS 'What subscriptions bring less than a month before; a positive number.';
COMMENT ON COLUMN mrr_movement_by_month.churn_milliunits IS 'MRR of subscriptions that were active a month before and are no longer; a positive number.';
COMMENT ON COLUMN mrr_movement_by_month.switched_in_milliunits IS 'MRR of subscriptions that were paid in another currency a month before.';
COMMENT ON COLUMN mrr_movement_by_month.switched_out_milliunits IS 'MRR a month before of subscriptions that are now paid in another currency; a positive number.';
COMMENT ON COLUMN mrr_movement_by_month.closing_milliunits IS 'MRR at the end of the month: opening + new + reactivation + expansion - contraction - churn + switched in - switched out.';
COMMENT ON COLUMN mrr_movement_by_month.opening_subscriptions IS 'Active paid subscriptions at the end of the month before.';
COMMENT ON COLUMN mrr_movement_by_month.new_subscriptions IS 'Subscriptions whose first payment was in the month.';
COMMENT ON COLUMN mrr_movement_by_month.reactivated_subscriptions IS 'Subscriptions that were paid for in an earlier month and came back.';
COMMENT ON COLUMN mrr_movement_by_month.expanded_subscriptions IS 'Subscriptions that bring more than a month before.';
COMMENT ON COLUMN mrr_movement_by_month.contracted_subscriptions IS 'Subscriptions that bring less than a month before.';
COMMENT ON COLUMN mrr_movement_by_month.churned_subscriptions IS 'Subscriptions active a month before and no longer.';
COMMENT ON COLUMN mrr_movement_by_month.closing_subscriptions IS 'Active paid subscriptions at the end of the month.';
