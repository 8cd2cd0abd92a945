-- Why did MRR grow or shrink this month?
--
-- closing = opening + new + reactivation + expansion - contraction - churn + switched_in - switched_out, always. Each
-- subscription's MRR at the end of the month is compared with its MRR at the end of the previous month. So a subscription
-- that lapsed and came back within a month has no movement, as in RevenueCat. A subscription is new only in the month of
-- its first payment. If it was paid before, lapsed before the end of that month, and is active at the end of a later month,
-- it is a reactivation, although it was not active at the end of any earlier month.
--
-- One row for each app_id, month, currency.
-- Readers: loader, exporter, actor, analyst.
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
            WHEN coalesce(mrr_milliunits, 0) > before_mrr THEN 'expansion'
            WHEN coalesce(mrr_milliunits, 0) < before_mrr THEN 'contraction'
        END AS kind,
        CASE WHEN before_until_month = from_month AND before_currency IS NOT DISTINCT FROM currency
             THEN abs(coalesce(mrr_milliunits, 0) - before_mrr) ELSE coalesce(mrr_milliunits, 0) END AS amount
    FROM refresh_month_steps
    UNION ALL
    SELECT
        sign, app_id, until_month, currency,
        CASE WHEN after_from_month IS DISTINCT FROM until_month THEN 'churn' WHEN after_currency IS DISTINCT FROM currency THEN 'switched out' END,
        coalesce(mrr_milliunits, 0)
    FROM refresh_month_steps WHERE until_month IS NOT NULL
) movement
WHERE kind IS NOT NULL
GROUP BY app_id, month, currency;

CREATE OR REPLACE VIEW mrr_movement_by_month AS
WITH monthly AS (
    SELECT app_id, month, currency, sum(mrr) AS mrr_step, sum(subscriptions) AS step,
           sum(sum(mrr)) OVER so_far AS closing, sum(sum(subscriptions)) OVER so_far AS closing_subscriptions
      FROM (SELECT app_id, month, currency, mrr_milliunits AS mrr, subscriptions FROM refresh_mrr_totals
            UNION ALL
            -- A month without changes gets a row of zeros; see active_subscriptions_by_day.
            SELECT f.app_id, m::date, f.currency, 0, 0
              FROM (SELECT app_id, currency, min(month) AS first_month FROM refresh_mrr_totals GROUP BY app_id, currency) f
              CROSS JOIN refresh_state state
              CROSS JOIN LATERAL generate_series(f.first_month::timestamp, (state.as_of - interval '1 microsecond') AT TIME ZONE 'UTC',
                                                 interval '1 month') m) every_month
     GROUP BY app_id, month, currency
    WINDOW so_far AS (PARTITION BY app_id, currency ORDER BY month)
), movement AS (
    SELECT app_id, month, currency, closing - mrr_step AS opening, closing,
           closing_subscriptions - step AS opening_subscriptions, closing_subscriptions,
           0 AS new_milliunits, 0 AS reactivation_milliunits, 0 AS expansion_milliunits, 0 AS contraction_milliunits, 0 AS churn_milliunits, 0 AS switched_in_milliunits, 0 AS switched_out_milliunits, 0 AS new_subscriptions, 0 AS reactivated_subscriptions, 0 AS expanded_subscriptions, 0 AS contracted_subscriptions, 0 AS churned_subscriptions
      FROM monthly WHERE closing_subscriptions <> 0 OR closing_subscriptions <> step
    UNION ALL
    SELECT app_id, month, currency, 0, 0, 0, 0,
           new_milliunits, reactivation_milliunits, expansion_milliunits, contraction_milliunits, churn_milliunits,
           switched_in_milliunits, switched_out_milliunits,
           new_subscriptions, reactivated_subscriptions, expanded_subscriptions, contracted_subscriptions, churned_subscriptions
      FROM refresh_mrr_movement_totals
)
SELECT
    app_id, month, currency,
    sum(opening)::bigint AS opening_milliunits,
    sum(new_milliunits)::bigint AS new_milliunits,
    sum(reactivation_milliunits)::bigint AS reactivation_milliunits,
    sum(expansion_milliunits)::bigint AS expansion_milliunits,
    sum(contraction_milliunits)::bigint AS contraction_milliunits,
    sum(churn_milliunits)::bigint AS churn_milliunits,
    sum(switched_in_milliunits)::bigint AS switched_in_milliunits,
    sum(switched_out_milliunits)::bigint AS switched_out_milliunits,
    sum(closing)::bigint AS closing_milliunits,
    sum(opening_subscriptions)::bigint AS opening_subscriptions,
    sum(new_subscriptions)::bigint AS new_subscriptions,
    sum(reactivated_subscriptions)::bigint AS reactivated_subscriptions,
    sum(expanded_subscriptions)::bigint AS expanded_subscriptions,
    sum(contracted_subscriptions)::bigint AS contracted_subscriptions,
    sum(churned_subscriptions)::bigint AS churned_subscriptions,
    sum(closing_subscriptions)::bigint AS closing_subscriptions,
    sum(opening) * 0.001 AS opening_amount,
    sum(new_milliunits) * 0.001 AS new_amount,
    sum(reactivation_milliunits) * 0.001 AS reactivation_amount,
    sum(expansion_milliunits) * 0.001 AS expansion_amount,
    sum(contraction_milliunits) * 0.001 AS contraction_amount,
    sum(churn_milliunits) * 0.001 AS churn_amount,
    sum(switched_in_milliunits) * 0.001 AS switched_in_amount,
    sum(switched_out_milliunits) * 0.001 AS switched_out_amount,
    sum(closing) * 0.001 AS closing_amount
FROM movement
GROUP BY app_id, month, currency;
COMMENT ON VIEW mrr_movement_by_month IS
    'The change of MRR from the end of one month to the next, by currency: new, reactivation, expansion, contraction, churn. Before Apple''s commission and tax. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN mrr_movement_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_movement_by_month.opening_milliunits IS 'MRR at the end of the previous month, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.new_milliunits IS 'MRR of subscriptions whose first payment was in the month and that are active at its end, including converted trials; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.reactivation_milliunits IS 'MRR of subscriptions that were paid for in an earlier month, were not active at the end of the previous month, and are active at the end of the month; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.expansion_milliunits IS 'Increase of MRR since the end of the previous month: upgrades, higher prices, ended offers; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.contraction_milliunits IS 'Decrease of MRR since the end of the previous month, as a positive number; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.churn_milliunits IS 'MRR of subscriptions that were active at the end of the previous month and are not active any more, as a positive number; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.switched_in_milliunits IS 'MRR of subscriptions that were paid in another currency at the end of the previous month; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.switched_out_milliunits IS 'MRR at the end of the previous month of subscriptions that are now paid in another currency, as a positive number; in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_movement_by_month.closing_milliunits IS 'MRR at the end of the month, in thousandths of a unit of currency: opening + new + reactivation + expansion - contraction - churn + switched in - switched out.';
COMMENT ON COLUMN mrr_movement_by_month.opening_subscriptions IS 'Active paid subscriptions at the end of the previous month.';
COMMENT ON COLUMN mrr_movement_by_month.new_subscriptions IS 'Subscriptions whose first payment was in the month and that are active at its end. new_subscriptions_by_day counts every first payment.';
COMMENT ON COLUMN mrr_movement_by_month.reactivated_subscriptions IS 'Subscriptions that were paid for in an earlier month, were not active at the end of the previous month, and are active at the end of the month.';
COMMENT ON COLUMN mrr_movement_by_month.expanded_subscriptions IS 'Subscriptions whose MRR is higher than at the end of the previous month.';
COMMENT ON COLUMN mrr_movement_by_month.contracted_subscriptions IS 'Subscriptions whose MRR is lower than at the end of the previous month.';
COMMENT ON COLUMN mrr_movement_by_month.churned_subscriptions IS 'Subscriptions that were active at the end of the previous month and are not active any more.';
COMMENT ON COLUMN mrr_movement_by_month.closing_subscriptions IS 'Active paid subscriptions at the end of the month.';
