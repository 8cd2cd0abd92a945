-- The currencies that have rates, their last rate, and the oldest one that sales or refunds of more than ten days later are converted with.
SELECT e.reporting_currency, e.currency, count(*) AS days, min(e.day)::text AS first_day, max(e.day)::text AS last_day,
       (array_agg(e.rate ORDER BY e.day DESC))[1]::text AS last_rate, min(used.rate_day)::text AS oldest_used, min(used.age) AS oldest_age
  FROM exchange_rates e
  LEFT JOIN (SELECT DISTINCT ON (reporting_currency, currency) reporting_currency, currency, rate_day, day - rate_day AS age
               FROM exchange_rate_days WHERE day - rate_day > 10
              ORDER BY reporting_currency, currency, day - rate_day DESC) used USING (reporting_currency, currency)
 GROUP BY e.reporting_currency, e.currency
 ORDER BY e.reporting_currency, e.currency
