-- Which exchange rate applies to which months?
--
-- The rate that applies on the last day of a month applies to the whole month, as in revenue_converted_by_month; in the
-- current month, the rate that applies today. The rate of a currency to itself is 1 in every month. Views that convert
-- amounts join this view: currency = ... AND month >= from_month AND month < to_month.
CREATE OR REPLACE VIEW exchange_rate_months AS
SELECT app_id, reporting_currency, currency, from_month,
       coalesce(lead(from_month) OVER (PARTITION BY app_id, reporting_currency, currency ORDER BY from_month), 'infinity') AS to_month,
       rate
  FROM (SELECT DISTINCT ON (app_id, reporting_currency, currency, date_trunc('month', valid_from::timestamp))
               app_id, reporting_currency, currency, date_trunc('month', valid_from::timestamp)::date AS from_month, rate
          FROM exchange_rates
         WHERE valid_from <= (now() AT TIME ZONE 'UTC')::date AND currency <> reporting_currency
         ORDER BY app_id, reporting_currency, currency, date_trunc('month', valid_from::timestamp), valid_from DESC) last_of_month
UNION ALL
SELECT DISTINCT app_id, reporting_currency, reporting_currency, '-infinity'::date, 'infinity'::date, 1::numeric FROM exchange_rates;
COMMENT ON VIEW exchange_rate_months IS
    'The rates of exchange_rates by the months to which they apply, and a rate of 1 from each reporting currency to itself. Other views use it; queries can use it for amounts that no view converts.';
COMMENT ON COLUMN exchange_rate_months.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN exchange_rate_months.reporting_currency IS 'The currency to convert to.';
COMMENT ON COLUMN exchange_rate_months.currency IS 'The currency to convert from.';
COMMENT ON COLUMN exchange_rate_months.from_month IS 'The first month to which the rate applies; its first day.';
COMMENT ON COLUMN exchange_rate_months.to_month IS 'The first month to which the rate no longer applies; its first day. infinity for the newest rate.';
COMMENT ON COLUMN exchange_rate_months.rate IS 'The value of one unit of currency in units of reporting_currency.';
