-- How much has a customer brought in the first k months, in one currency, at the user's own rates?
--
-- lifetime_value_by_cohort: what each month brought is converted at the rate of that month, and then added up. Customers of a currency
-- without a rate are left out, and the currency is named.
CREATE OR REPLACE VIEW lifetime_value_converted_by_cohort AS
SELECT
    app_id, cohort_month, reporting_currency, month_number, customers,
    round(net)::bigint AS net_estimated_milliunits,
    round(cumulative)::bigint AS cumulative_estimated_milliunits,
    round(cumulative / nullif(customers, 0))::bigint AS value_estimated_milliunits,
    round(net) * 0.001 AS net_estimated_amount,
    round(cumulative) * 0.001 AS cumulative_estimated_amount,
    round(cumulative / nullif(customers, 0)) * 0.001 AS value_estimated_amount,
    currencies_without_rate
FROM (
    SELECT app_id, cohort_month, reporting_currency, month_number, customers, net, currencies_without_rate,
           sum(net) OVER (PARTITION BY app_id, cohort_month, reporting_currency ORDER BY month_number) AS cumulative
      FROM (
          SELECT v.app_id, v.cohort_month, wanted.reporting_currency, v.month_number,
                 coalesce(sum(v.customers) FILTER (WHERE rate.rate IS NOT NULL), 0)::bigint AS customers,
                 coalesce(sum(v.net_milliunits * rate.rate), 0) AS net,
                 array_agg(DISTINCT v.currency) FILTER (WHERE rate.rate IS NULL) AS currencies_without_rate
            FROM lifetime_value_by_cohort v
            JOIN (SELECT DISTINCT app_id, reporting_currency FROM exchange_rates) wanted ON wanted.app_id = v.app_id
            LEFT JOIN exchange_rate_months rate ON rate.app_id = v.app_id AND rate.reporting_currency = wanted.reporting_currency
                 AND rate.currency = v.currency AND v.cohort_month + v.month_number * interval '1 month' >= rate.from_month
                 AND v.cohort_month + v.month_number * interval '1 month' < rate.to_month
           GROUP BY v.app_id, v.cohort_month, wanted.reporting_currency, v.month_number
      ) converted
) added;
COMMENT ON VIEW lifetime_value_converted_by_cohort IS
    'lifetime_value_by_cohort in the currency of exchange_rates; empty while that table is. Rates should begin before the first cohort: a month before the first rate is missing from the sums.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.app_id IS 'The app, in apps.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.cohort_month IS 'The month of the customers'' first payment; its first day, in UTC.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.month_number IS 'Months since cohort_month.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.customers IS 'Customers of the cohort whose currency has a rate in the month; one who pays in two currencies is one in each.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.net_estimated_milliunits IS 'What they brought in the month, net of refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.cumulative_estimated_milliunits IS 'What they have brought up to the end of the month, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.value_estimated_milliunits IS 'cumulative_estimated_milliunits over customers; NULL when there are none.';
COMMENT ON COLUMN lifetime_value_converted_by_cohort.currencies_without_rate IS 'Currencies of the cohort that have no rate in the month; NULL when all have one.';
