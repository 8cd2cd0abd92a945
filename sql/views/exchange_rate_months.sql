-- Which of the user's exchange rates holds for the amounts of which months?
--
-- The rate that holds on the last day of a month, or today in the month under way, holds for all of it, as in
-- revenue_converted_by_month. A currency is worth 1 of itself in every month. Views that convert join this one:
-- currency = ... AND month >= from_month AND month < to_month.
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
    'The rates of exchange_rates by the months they hold for, and 1 for each reporting currency itself. For other views, and for converting what no view converts.';
COMMENT ON COLUMN exchange_rate_months.app_id IS 'The app, in apps.';
COMMENT ON COLUMN exchange_rate_months.reporting_currency IS 'The currency to convert to.';
COMMENT ON COLUMN exchange_rate_months.currency IS 'The currency to convert from.';
COMMENT ON COLUMN exchange_rate_months.from_month IS 'The first month that the rate holds for; its first day.';
COMMENT ON COLUMN exchange_rate_months.to_month IS 'The first month that it does not hold for any more; infinity for the newest rate.';
COMMENT ON COLUMN exchange_rate_months.rate IS 'How many units of reporting_currency one unit of currency is worth.';
