-- How much may be left after tax and commission, converted to one currency?
--
-- proceeds_by_month is converted at the rate that applies on the last day of the month; in the current month, at the rate
-- that applies today. Rows without a rule are excluded and flagged. Rows without a rate are excluded and their currencies
-- are listed.
CREATE OR REPLACE VIEW proceeds_converted_by_month AS
SELECT
    p.app_id, p.month, wanted.reporting_currency, p.product_id, p.storefront,
    round(sum(p.net_milliunits * rate.rate))::bigint AS net_estimated_milliunits,
    round(sum(p.proceeds_estimated_milliunits * rate.rate))::bigint AS proceeds_estimated_milliunits,
    round(sum(p.proceeds_by_year_estimated_milliunits * rate.rate))::bigint AS proceeds_by_year_estimated_milliunits,
    round(sum(p.net_milliunits * rate.rate)) * 0.001 AS net_estimated_amount,
    round(sum(p.proceeds_estimated_milliunits * rate.rate)) * 0.001 AS proceeds_estimated_amount,
    round(sum(p.proceeds_by_year_estimated_milliunits * rate.rate)) * 0.001 AS proceeds_by_year_estimated_amount,
    coalesce(bool_or(p.proceeds_estimated_milliunits IS NULL AND p.net_milliunits <> 0), false) AS is_without_rule,
    array_agg(DISTINCT p.currency) FILTER (WHERE rate.rate IS NULL AND p.net_milliunits <> 0) AS currencies_without_rate
FROM proceeds_by_month p
JOIN (SELECT DISTINCT app_id, reporting_currency FROM exchange_rates) wanted ON wanted.app_id = p.app_id
LEFT JOIN exchange_rate_months rate ON rate.app_id = p.app_id AND rate.reporting_currency = wanted.reporting_currency
     AND rate.currency = p.currency AND p.month >= rate.from_month AND p.month < rate.to_month
GROUP BY p.app_id, p.month, wanted.reporting_currency, p.product_id, p.storefront;
COMMENT ON VIEW proceeds_converted_by_month IS
    'proceeds_by_month, converted with exchange_rates; empty while that table is empty. Use App Store Connect''s financial reports for accounting.';
COMMENT ON COLUMN proceeds_converted_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN proceeds_converted_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN proceeds_converted_by_month.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN proceeds_converted_by_month.net_estimated_milliunits IS 'Sales less refunds, in thousandths of a unit of reporting_currency. NULL if no currency of the row has a rate.';
COMMENT ON COLUMN proceeds_converted_by_month.proceeds_estimated_milliunits IS 'Estimated proceeds, in thousandths of a unit of reporting_currency. NULL if no sales have both a rule and a rate.';
COMMENT ON COLUMN proceeds_converted_by_month.proceeds_by_year_estimated_milliunits IS 'Estimated proceeds with the commission after one year of paid service, in thousandths of a unit of reporting_currency. NULL if no sales have both a rule and a rate.';
COMMENT ON COLUMN proceeds_converted_by_month.is_without_rule IS 'Whether sales are missing from the proceeds because no rule of proceeds_rules applies to them.';
COMMENT ON COLUMN proceeds_converted_by_month.currencies_without_rate IS 'Currencies without a rate. Their amounts are missing from the sums. NULL if there are none.';
