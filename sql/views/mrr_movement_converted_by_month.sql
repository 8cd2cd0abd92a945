-- Why did MRR grow or shrink, converted to one currency?
--
-- A whole month is converted at one rate: the rate of its last day, or today's rate for the current month. So within a
-- month closing = opening + new + reactivation + expansion - contraction - churn + switched_in - switched_out, apart from
-- rounding. The opening of a month is the closing of the previous month at other rates; the difference is the effect of
-- the rates. Subscriptions that switch currencies appear in switched_in and switched_out. The difference between the two
-- is the change of the price.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW mrr_movement_converted_by_month AS
SELECT
    m.app_id, m.month, wanted.reporting_currency,
    round(sum(m.opening_milliunits * rate.rate))::bigint AS opening_estimated_milliunits,
    round(sum(m.new_milliunits * rate.rate))::bigint AS new_estimated_milliunits,
    round(sum(m.reactivation_milliunits * rate.rate))::bigint AS reactivation_estimated_milliunits,
    round(sum(m.expansion_milliunits * rate.rate))::bigint AS expansion_estimated_milliunits,
    round(sum(m.contraction_milliunits * rate.rate))::bigint AS contraction_estimated_milliunits,
    round(sum(m.churn_milliunits * rate.rate))::bigint AS churn_estimated_milliunits,
    round(sum(m.switched_in_milliunits * rate.rate))::bigint AS switched_in_estimated_milliunits,
    round(sum(m.switched_out_milliunits * rate.rate))::bigint AS switched_out_estimated_milliunits,
    round(sum(m.closing_milliunits * rate.rate))::bigint AS closing_estimated_milliunits,
    round(sum(m.opening_milliunits * rate.rate), 3) * 0.001 AS opening_estimated_amount,
    round(sum(m.new_milliunits * rate.rate), 3) * 0.001 AS new_estimated_amount,
    round(sum(m.reactivation_milliunits * rate.rate), 3) * 0.001 AS reactivation_estimated_amount,
    round(sum(m.expansion_milliunits * rate.rate), 3) * 0.001 AS expansion_estimated_amount,
    round(sum(m.contraction_milliunits * rate.rate), 3) * 0.001 AS contraction_estimated_amount,
    round(sum(m.churn_milliunits * rate.rate), 3) * 0.001 AS churn_estimated_amount,
    round(sum(m.switched_in_milliunits * rate.rate), 3) * 0.001 AS switched_in_estimated_amount,
    round(sum(m.switched_out_milliunits * rate.rate), 3) * 0.001 AS switched_out_estimated_amount,
    round(sum(m.closing_milliunits * rate.rate), 3) * 0.001 AS closing_estimated_amount,
    round(sum((m.opening_milliunits - m.switched_out_milliunits - m.churn_milliunits - m.contraction_milliunits) * rate.rate)
          / nullif(sum((m.opening_milliunits - m.switched_out_milliunits) * rate.rate), 0), 4) AS gross_mrr_retention,
    round(sum((m.opening_milliunits - m.switched_out_milliunits - m.churn_milliunits - m.contraction_milliunits + m.expansion_milliunits) * rate.rate)
          / nullif(sum((m.opening_milliunits - m.switched_out_milliunits) * rate.rate), 0), 4) AS net_mrr_retention,
    round(sum((m.new_milliunits + m.reactivation_milliunits + m.expansion_milliunits) * rate.rate)
          / nullif(sum((m.churn_milliunits + m.contraction_milliunits) * rate.rate), 0), 2) AS quick_ratio,
    array_agg(DISTINCT m.currency) FILTER (WHERE rate.rate IS NULL AND (m.opening_milliunits <> 0 OR m.closing_milliunits <> 0))
        AS currencies_without_rate
FROM mrr_movement_by_month m
CROSS JOIN reporting_currencies wanted
CROSS JOIN LATERAL exchange_rate(wanted.reporting_currency, m.currency, (m.month + interval '1 month')::date - 1) rate (rate)
GROUP BY m.app_id, m.month, wanted.reporting_currency;
COMMENT ON VIEW mrr_movement_converted_by_month IS
    'mrr_movement_by_month, converted with exchange_rates; empty while that table is empty.';
COMMENT ON COLUMN mrr_movement_converted_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN mrr_movement_converted_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_movement_converted_by_month.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN mrr_movement_converted_by_month.opening_estimated_milliunits IS 'MRR at the end of the previous month, at the rates of this month, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.new_estimated_milliunits IS 'MRR of subscriptions whose first payment was in the month and that are active at its end, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.reactivation_estimated_milliunits IS 'MRR of subscriptions that came back, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.expansion_estimated_milliunits IS 'Increase of MRR since the end of the previous month, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.contraction_estimated_milliunits IS 'Decrease of MRR since the end of the previous month, as a positive number, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.churn_estimated_milliunits IS 'MRR of subscriptions that were active at the end of the previous month and are not active any more, as a positive number, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.switched_in_estimated_milliunits IS 'MRR of subscriptions that were paid in another currency at the end of the previous month, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.switched_out_estimated_milliunits IS 'MRR at the end of the previous month of subscriptions that are now paid in another currency, as a positive number, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.closing_estimated_milliunits IS 'MRR at the end of the month, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN mrr_movement_converted_by_month.gross_mrr_retention IS 'As in mrr_retention_by_month, for all currencies that have a rate.';
COMMENT ON COLUMN mrr_movement_converted_by_month.net_mrr_retention IS 'As in mrr_retention_by_month, for all currencies that have a rate.';
COMMENT ON COLUMN mrr_movement_converted_by_month.quick_ratio IS 'As in mrr_retention_by_month, for all currencies that have a rate.';
COMMENT ON COLUMN mrr_movement_converted_by_month.currencies_without_rate IS 'Currencies without a rate. Their amounts are missing from the sums. NULL if there are none.';
