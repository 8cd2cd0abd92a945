-- Which sales and refunds does each month of the views in one currency lack, because their day has no rate?
--
-- A rate applies until the next one, so only days before the first rate of a currency have none. Amounts without a currency are
-- not listed, because no rate could convert them.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW missing_rates_by_month AS
SELECT
    r.app_id, date_trunc('month', r.day::timestamp)::date AS month, wanted.reporting_currency, r.currency, min(r.day) AS first_day, max(r.day) AS last_day, count(DISTINCT r.day) AS days,
    sum(r.purchases)::bigint AS purchases,
    sum(r.gross_milliunits)::bigint AS gross_milliunits,
    sum(r.refunded_milliunits)::bigint AS refunded_milliunits,
    sum(r.net_milliunits)::bigint AS net_milliunits,
    sum(r.gross_amount) AS gross_amount,
    sum(r.refunded_amount) AS refunded_amount,
    sum(r.net_amount) AS net_amount
FROM revenue_by_day r
JOIN (
    -- Few currencies remain, so that the join is cheap.
    SELECT c.reporting_currency, sold.currency, first_rate.day AS first_rate
      FROM reporting_currencies c
      JOIN (SELECT currency, min(day) AS first_day FROM refresh_daily_revenue_totals GROUP BY currency) sold
        ON sold.currency <> c.reporting_currency
     CROSS JOIN LATERAL (SELECT min(e.day) AS day FROM exchange_rates e
                          WHERE e.reporting_currency = c.reporting_currency AND e.currency = sold.currency) first_rate
     WHERE first_rate.day IS NULL OR sold.first_day < first_rate.day
    OFFSET 0
) wanted ON wanted.currency = r.currency AND (wanted.first_rate IS NULL OR r.day < wanted.first_rate)
WHERE r.gross_milliunits <> 0 OR r.refunded_milliunits <> 0
GROUP BY r.app_id, date_trunc('month', r.day::timestamp), wanted.reporting_currency, r.currency;
COMMENT ON VIEW missing_rates_by_month IS
    'Sales and refunds of each month of revenue_by_day without a rate on their day; empty while exchange_rates is empty. The views in one currency leave them out.';
COMMENT ON COLUMN missing_rates_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN missing_rates_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN missing_rates_by_month.reporting_currency IS 'The currency that the amounts cannot be converted to.';
COMMENT ON COLUMN missing_rates_by_month.currency IS 'The currency without a rate.';
COMMENT ON COLUMN missing_rates_by_month.first_day IS 'The first day of the month with sales or refunds and without a rate, in UTC.';
COMMENT ON COLUMN missing_rates_by_month.last_day IS 'The last day of the month with sales or refunds and without a rate, in UTC.';
COMMENT ON COLUMN missing_rates_by_month.days IS 'Days of the month with sales or refunds and without a rate.';
COMMENT ON COLUMN missing_rates_by_month.purchases IS 'Purchases and renewals with a price on these days.';
COMMENT ON COLUMN missing_rates_by_month.gross_milliunits IS 'Prices of these purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN missing_rates_by_month.refunded_milliunits IS 'Amounts refunded on these days, in thousandths of a unit of currency.';
COMMENT ON COLUMN missing_rates_by_month.net_milliunits IS 'gross_milliunits minus refunded_milliunits.';
