-- How much is monthly recurring revenue, converted to one currency?
--
-- Every amount is converted at the rate that applies on the last day of its month; in the current month, at the rate that
-- applies today. Amounts without a rate are excluded and their currencies are listed, as in revenue_converted_by_month.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW mrr_converted_by_month AS
SELECT
    m.app_id, m.month, wanted.reporting_currency, m.product_id, m.storefront,
    sum(m.active_subscriptions)::bigint AS active_subscriptions,
    coalesce(sum(m.active_subscriptions) FILTER (WHERE rate.rate IS NULL), 0)::bigint AS subscriptions_without_rate,
    round(sum(m.mrr_milliunits * rate.rate))::bigint AS mrr_estimated_milliunits,
    round(sum(m.mrr_milliunits * rate.rate), 3) * 0.001 AS mrr_estimated_amount,
    array_agg(DISTINCT m.currency) FILTER (WHERE rate.rate IS NULL AND m.mrr_milliunits <> 0) AS currencies_without_rate
FROM mrr_by_month m
CROSS JOIN reporting_currencies wanted
CROSS JOIN LATERAL exchange_rate(wanted.reporting_currency, m.currency, (m.month + interval '1 month')::date - 1) rate (rate)
GROUP BY m.app_id, m.month, wanted.reporting_currency, m.product_id, m.storefront;
COMMENT ON VIEW mrr_converted_by_month IS
    'mrr_by_month, converted with exchange_rates; empty while that table is empty. A change of a rate changes the converted MRR without any MRR movement.';
COMMENT ON COLUMN mrr_converted_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN mrr_converted_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_converted_by_month.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN mrr_converted_by_month.active_subscriptions IS 'Active paid subscriptions at the end of the month, including those in currencies without a rate.';
COMMENT ON COLUMN mrr_converted_by_month.subscriptions_without_rate IS 'Of these, the subscriptions in currencies without a rate. Their MRR is missing from the sum.';
COMMENT ON COLUMN mrr_converted_by_month.mrr_estimated_milliunits IS 'MRR at the end of the month, in thousandths of a unit of reporting_currency. NULL if no currency of the row has a rate.';
COMMENT ON COLUMN mrr_converted_by_month.currencies_without_rate IS 'Currencies without a rate. Their amounts are missing from the sum. NULL if there are none.';
