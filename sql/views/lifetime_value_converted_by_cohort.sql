-- How much revenue has a customer brought in the first k months, converted to one currency?
--
-- Each month's amount of lifetime_value_by_cohort is converted at the rate of the month's last day, and the results are added up.
-- Customers whose currency has no rate in the month are excluded. A currency is listed from the first month without a rate on, because the
-- amount of that month is missing from every later sum.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW lifetime_value_converted_by_cohort AS
SELECT
    app_id, cohort_month, reporting_currency, month_number, customers,
    round(net)::bigint AS net_estimated_milliunits,
    round(cumulative)::bigint AS cumulative_estimated_milliunits,
    round(cumulative / nullif(customers, 0))::bigint AS value_estimated_milliunits,
    round(net, 3) * 0.001 AS net_estimated_amount,
    round(cumulative, 3) * 0.001 AS cumulative_estimated_amount,
    round(cumulative / nullif(customers, 0), 3) * 0.001 AS value_estimated_amount,
    currencies_without_rate
FROM (
    SELECT app_id, cohort_month, reporting_currency, month_number, customers, net, currencies_without_rate,
           sum(net) OVER (PARTITION BY app_id, cohort_month, reporting_currency ORDER BY month_number) AS cumulative
      FROM (
          SELECT v.app_id, v.cohort_month, v.reporting_currency, v.month_number,
                 coalesce(sum(v.customers) FILTER (WHERE v.rate IS NOT NULL), 0)::bigint AS customers,
                 coalesce(sum(v.net_milliunits * v.rate), 0) AS net,
                 array_agg(DISTINCT v.currency) FILTER (WHERE v.lacks_rate) AS currencies_without_rate
            FROM (
                SELECT v.app_id, v.cohort_month, wanted.reporting_currency, v.currency, v.month_number, v.customers, v.net_milliunits, rate.rate,
                       bool_or(rate.rate IS NULL) OVER (PARTITION BY v.app_id, v.cohort_month, wanted.reporting_currency, v.currency
                                                        ORDER BY v.month_number) AS lacks_rate
                  FROM lifetime_value_by_cohort v
                 CROSS JOIN reporting_currencies wanted
                 CROSS JOIN LATERAL exchange_rate(wanted.reporting_currency, v.currency,
                                                  (v.cohort_month + (v.month_number + 1) * interval '1 month')::date - 1) rate (rate)
            ) v
           GROUP BY v.app_id, v.cohort_month, v.reporting_currency, v.month_number
      ) converted
) added;
COMMENT ON VIEW lifetime_value_converted_by_cohort IS
    'lifetime_value_by_cohort, converted with exchange_rates; empty while that table is empty. Rates should begin before the first cohort, because months before the first rate are missing from the sums.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.cohort_month IS 'The month of the customers'' first payment in their currency; its first day, in UTC.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.month_number IS 'Months since cohort_month.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.customers IS 'Customers of the cohort whose currency has a rate in the month. A customer who pays in two currencies counts twice.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.net_estimated_milliunits IS 'Revenue of the cohort in the month, net of refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.cumulative_estimated_milliunits IS 'Revenue of the cohort up to the end of the month, net of refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.value_estimated_milliunits IS 'cumulative_estimated_milliunits divided by customers. NULL if there are none.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.currencies_without_rate IS 'Currencies of the cohort without a rate in this month or an earlier one; cumulative_estimated_milliunits lacks their amounts of those months. NULL if there are none.';
