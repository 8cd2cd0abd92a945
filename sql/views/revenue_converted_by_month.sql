-- How much are the month's sales, converted to one currency?
--
-- Every amount is converted at the rate of exchange_rates that applies on the last day of its month; in the current month,
-- at the rate that applies today. Amounts without a rate are excluded and their currencies are listed, so that amounts of
-- different currencies are never added up.
CREATE OR REPLACE VIEW revenue_converted_by_month AS
SELECT
    r.app_id, r.month, wanted.reporting_currency, r.product_id, r.storefront,
    sum(r.purchases)::bigint AS purchases,
    round(sum(r.gross_milliunits * rate.rate))::bigint AS gross_estimated_milliunits,
    round(sum(r.refunded_milliunits * rate.rate))::bigint AS refunded_estimated_milliunits,
    round(sum(r.net_milliunits * rate.rate))::bigint AS net_estimated_milliunits,
    array_agg(DISTINCT r.currency) FILTER (WHERE rate.rate IS NULL AND (r.gross_milliunits <> 0 OR r.refunded_milliunits <> 0))
        AS currencies_without_rate,
    round(sum(r.gross_milliunits * rate.rate)) * 0.001 AS gross_estimated_amount,
    round(sum(r.refunded_milliunits * rate.rate)) * 0.001 AS refunded_estimated_amount,
    round(sum(r.net_milliunits * rate.rate)) * 0.001 AS net_estimated_amount
FROM revenue_by_month r
JOIN (SELECT DISTINCT app_id, reporting_currency FROM exchange_rates) wanted ON wanted.app_id = r.app_id
LEFT JOIN LATERAL (
    SELECT CASE WHEN r.currency = wanted.reporting_currency THEN 1::numeric ELSE (
        SELECT e.rate FROM exchange_rates e
         WHERE e.app_id = r.app_id AND e.reporting_currency = wanted.reporting_currency AND e.currency = r.currency
           AND e.valid_from < (r.month + interval '1 month')::date AND e.valid_from <= (now() AT TIME ZONE 'UTC')::date
         ORDER BY e.valid_from DESC LIMIT 1) END AS rate
) rate ON true
GROUP BY r.app_id, r.month, wanted.reporting_currency, r.product_id, r.storefront;
COMMENT ON VIEW revenue_converted_by_month IS
    'revenue_by_month, converted with exchange_rates; empty while that table is empty. The amounts are estimates, because Apple converts at its own rates and on other days.';
COMMENT ON COLUMN revenue_converted_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN revenue_converted_by_month.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN revenue_converted_by_month.purchases IS 'Purchases and renewals with a price, including those in currencies without a rate.';
COMMENT ON COLUMN revenue_converted_by_month.gross_estimated_milliunits IS 'Sales, in thousandths of a unit of reporting_currency. NULL if no currency of the row has a rate.';
COMMENT ON COLUMN revenue_converted_by_month.refunded_estimated_milliunits IS 'Refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN revenue_converted_by_month.net_estimated_milliunits IS 'Sales less refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN revenue_converted_by_month.currencies_without_rate IS 'Currencies without a rate. Their amounts are missing from the sums. NULL if there are none.';
