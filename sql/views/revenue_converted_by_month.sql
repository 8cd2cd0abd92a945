-- How much are the month's sales, converted to one currency?
--
-- A sale is converted at the rate of the day of the purchase, a refund at the rate of the day of the refund. These are the days of
-- revenue_by_day. So rates of later days change no earlier figure. RevenueCat and Adapty use the rate of the day of the purchase, too. Amounts
-- without a rate are excluded and their currencies are listed, so that amounts of different currencies are never added up.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW revenue_converted_by_month AS
SELECT
    r.app_id, date_trunc('month', r.day::timestamp)::date AS month, rate.reporting_currency, r.product_id, r.storefront,
    sum(r.purchases)::bigint AS purchases,
    coalesce(sum(r.purchases) FILTER (WHERE rate.rate IS NULL), 0)::bigint AS purchases_without_rate,
    round(sum(r.gross_milliunits * rate.rate))::bigint AS gross_estimated_milliunits,
    round(sum(r.refunded_milliunits * rate.rate))::bigint AS refunded_estimated_milliunits,
    round(sum(r.net_milliunits * rate.rate))::bigint AS net_estimated_milliunits,
    array_agg(DISTINCT r.currency) FILTER (WHERE rate.rate IS NULL AND (r.gross_milliunits <> 0 OR r.refunded_milliunits <> 0))
        AS currencies_without_rate,
    round(sum(r.gross_milliunits * rate.rate), 3) * 0.001 AS gross_estimated_amount,
    round(sum(r.refunded_milliunits * rate.rate), 3) * 0.001 AS refunded_estimated_amount,
    round(sum(r.net_milliunits * rate.rate), 3) * 0.001 AS net_estimated_amount
FROM revenue_by_day r
JOIN exchange_rate_days rate ON rate.day = r.day AND rate.currency IS NOT DISTINCT FROM r.currency
GROUP BY r.app_id, date_trunc('month', r.day::timestamp), rate.reporting_currency, r.product_id, r.storefront;
COMMENT ON VIEW revenue_converted_by_month IS
    'Sales and refunds of revenue_by_month, each converted with the rate of its day in exchange_rates; empty while that table is empty. The amounts are estimates, because Apple converts at its own rates and on other days.';
COMMENT ON COLUMN revenue_converted_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN revenue_converted_by_month.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN revenue_converted_by_month.purchases IS 'Purchases and renewals with a price, including those in currencies without a rate.';
COMMENT ON COLUMN revenue_converted_by_month.purchases_without_rate IS 'Of these, the purchases without a rate on their day. Their amounts are missing from the sums.';
COMMENT ON COLUMN revenue_converted_by_month.gross_estimated_milliunits IS 'Sales, in thousandths of a unit of reporting_currency. NULL if no currency of the row has a rate.';
COMMENT ON COLUMN revenue_converted_by_month.refunded_estimated_milliunits IS 'Refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN revenue_converted_by_month.net_estimated_milliunits IS 'Sales less refunds, in thousandths of a unit of reporting_currency.';
COMMENT ON COLUMN revenue_converted_by_month.currencies_without_rate IS 'Currencies without a rate on some day of the month that has sales or refunds. These are missing from the sums. NULL if there are none.';
