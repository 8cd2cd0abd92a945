-- The oldest rate of each month's sales and refunds that is older than ten days; the bank's longest pause is shorter.
SELECT DISTINCT ON (to_char(r.day, 'YYYY-MM')) to_char(r.day, 'YYYY-MM') AS month, r.currency, r.rate_day::text AS rate_day, r.day - r.rate_day AS days
  FROM exchange_rate_days r
  JOIN (SELECT DISTINCT day, currency FROM revenue_by_day WHERE app_id = ANY (:apps::text[]::integer[])) booked USING (day, currency)
 WHERE r.reporting_currency = :reporting AND r.day - r.rate_day > 10
 ORDER BY to_char(r.day, 'YYYY-MM'), r.day - r.rate_day DESC, r.currency
