-- Which sales and refunds do the views in one currency leave out, because their day has no rate?
--
-- missing_rates_by_month has them by month.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW missing_rates AS
SELECT
    app_id, reporting_currency, currency, min(first_day) AS first_day, max(last_day) AS last_day, sum(days)::bigint AS days,
    sum(purchases)::bigint AS purchases,
    sum(gross_milliunits)::bigint AS gross_milliunits,
    sum(refunded_milliunits)::bigint AS refunded_milliunits,
    sum(net_milliunits)::bigint AS net_milliunits,
    sum(gross_amount) AS gross_amount,
    sum(refunded_amount) AS refunded_amount,
    sum(net_amount) AS net_amount
FROM missing_rates_by_month
GROUP BY app_id, reporting_currency, currency;
COMMENT ON VIEW missing_rates IS
    'Sales and refunds of revenue_by_day without a rate on their day; empty while exchange_rates is empty. The views in one currency leave them out.';
COMMENT ON COLUMN missing_rates.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN missing_rates.reporting_currency IS 'The currency that the amounts cannot be converted to.';
COMMENT ON COLUMN missing_rates.currency IS 'The currency without a rate.';
COMMENT ON COLUMN missing_rates.first_day IS 'The first day with sales or refunds and without a rate, in UTC.';
COMMENT ON COLUMN missing_rates.last_day IS 'The last day with sales or refunds and without a rate, in UTC.';
COMMENT ON COLUMN missing_rates.days IS 'Days with sales or refunds and without a rate.';
COMMENT ON COLUMN missing_rates.purchases IS 'Purchases and renewals with a price on these days.';
COMMENT ON COLUMN missing_rates.gross_milliunits IS 'Prices of these purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN missing_rates.refunded_milliunits IS 'Amounts refunded on these days, in thousandths of a unit of currency.';
COMMENT ON COLUMN missing_rates.net_milliunits IS 'gross_milliunits minus refunded_milliunits.';
