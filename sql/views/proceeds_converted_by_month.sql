-- How much may be left after tax and commission, converted to one currency?
--
-- Sales and refunds are converted as in revenue_converted_by_month. Tax and commission are the same as in proceeds_by_month. Rows
-- without a rule are excluded and flagged. Rows without a rate are excluded and their currencies are listed.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW proceeds_converted_by_month AS
WITH booked AS (
    SELECT r.app_id, r.day, r.product_id, r.storefront, r.currency, r.net_milliunits AS net, 0 AS net_after_a_year,
           r.gross_milliunits <> 0 OR r.refunded_milliunits <> 0 AS has_amount
      FROM revenue_by_day r
    UNION ALL
    -- revenue_by_day has these payments, too.
    SELECT l.app_id, l.day, l.product_id, l.storefront, l.currency, 0, l.gross_milliunits - l.refunded_milliunits, false
      FROM refresh_later_payment_totals l
), converted AS (
    SELECT b.app_id, date_trunc('month', b.day::timestamp)::date AS month, rate.reporting_currency, b.product_id, b.storefront,
           sum(b.net * rate.rate) AS net, sum(b.net_after_a_year * rate.rate) AS net_after_a_year,
           bool_or(b.net <> 0) AS has_net,
           array_agg(DISTINCT b.currency) FILTER (WHERE rate.rate IS NULL AND b.has_amount) AS currencies_without_rate
      FROM booked b
      JOIN exchange_rate_days rate ON rate.day = b.day AND rate.currency IS NOT DISTINCT FROM b.currency
     GROUP BY b.app_id, date_trunc('month', b.day::timestamp), rate.reporting_currency, b.product_id, b.storefront
)
SELECT
    c.app_id, c.month, c.reporting_currency, c.product_id, c.storefront,
    round(c.net)::bigint AS net_estimated_milliunits,
    round(proceeds.plain)::bigint AS proceeds_estimated_milliunits,
    round(proceeds.by_year)::bigint AS proceeds_by_year_estimated_milliunits,
    round(c.net, 3) * 0.001 AS net_estimated_amount,
    round(proceeds.plain, 3) * 0.001 AS proceeds_estimated_amount,
    round(proceeds.by_year, 3) * 0.001 AS proceeds_by_year_estimated_amount,
    rule.tax IS NULL AND c.has_net AS is_without_rule,
    c.currencies_without_rate
FROM converted c
LEFT JOIN LATERAL proceeds_rule(c.app_id, c.storefront, c.month) rule ON true
CROSS JOIN LATERAL (
    SELECT c.net * (1 - rule.commission) / (1 + rule.tax) AS plain,
           ((c.net - c.net_after_a_year) * (1 - rule.commission) + c.net_after_a_year * (1 - rule.commission_after_a_year))
           / (1 + rule.tax) AS by_year
) proceeds;
COMMENT ON VIEW proceeds_converted_by_month IS
    'Proceeds of proceeds_by_month, converted with the rates of the days in exchange_rates; empty while that table is empty. Use App Store Connect''s financial reports for accounting.';
COMMENT ON COLUMN proceeds_converted_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN proceeds_converted_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN proceeds_converted_by_month.reporting_currency IS 'The currency of every amount in the row, from exchange_rates.';
COMMENT ON COLUMN proceeds_converted_by_month.net_estimated_milliunits IS 'Sales less refunds, in thousandths of a unit of reporting_currency. NULL if no currency of the row has a rate.';
COMMENT ON COLUMN proceeds_converted_by_month.proceeds_estimated_milliunits IS 'Estimated proceeds, in thousandths of a unit of reporting_currency. NULL if no sales have both a rule and a rate.';
COMMENT ON COLUMN proceeds_converted_by_month.proceeds_by_year_estimated_milliunits IS 'Estimated proceeds with the commission after one year of paid service, in thousandths of a unit of reporting_currency. NULL if no sales have both a rule and a rate.';
COMMENT ON COLUMN proceeds_converted_by_month.is_without_rule IS 'Whether sales are missing from the proceeds because no rule of proceeds_rules applies to them.';
COMMENT ON COLUMN proceeds_converted_by_month.currencies_without_rate IS 'Currencies without a rate on some day of the month that has sales or refunds. These are missing from the sums. NULL if there are none.';
