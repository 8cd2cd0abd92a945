-- What is each currency worth on the days with sales or refunds?
--
-- The function exchange_rate returns the rates. Views that convert sales join this view. So a rate is looked up once for each day and
-- currency, and not again for each product and storefront.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW exchange_rate_days AS
SELECT wanted.reporting_currency, booked.currency, booked.day,
       exchange_rate(wanted.reporting_currency, booked.currency, booked.day) AS rate,
       CASE WHEN booked.currency = wanted.reporting_currency THEN booked.day
            ELSE (SELECT max(e.day) FROM exchange_rates e
                   WHERE e.reporting_currency = wanted.reporting_currency AND e.currency = booked.currency
                     AND e.day <= least(booked.day, (now() AT TIME ZONE 'UTC')::date)) END AS rate_day
  FROM (SELECT DISTINCT day, currency FROM refresh_daily_revenue_totals) booked
  CROSS JOIN reporting_currencies wanted
-- Without it the planner would call the function for each joined row.
OFFSET 0;
COMMENT ON VIEW exchange_rate_days IS
    'The rates of the days that revenue_by_day has, from exchange_rates; empty while that table is empty.';
COMMENT ON COLUMN exchange_rate_days.reporting_currency IS 'The currency to convert to.';
COMMENT ON COLUMN exchange_rate_days.currency IS 'The currency to convert from. NULL where Apple named none.';
COMMENT ON COLUMN exchange_rate_days.day IS 'The day, in UTC.';
COMMENT ON COLUMN exchange_rate_days.rate IS 'The value of one unit of currency in units of reporting_currency. NULL if the day has no rate.';
COMMENT ON COLUMN exchange_rate_days.rate_day IS 'The day that the rate is from: the last day until day with a rate of the currency. NULL if the day has no rate.';
