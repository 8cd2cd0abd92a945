-- Sales and refunds of the last three months by day and currency.
SELECT v.day::text AS day, currency, sum(new_milliunits) AS new, sum(renewal_milliunits) AS renewal,
       sum(one_time_milliunits) AS one_time, sum(refunded_milliunits) AS refunded, sum(net_milliunits) AS net
  FROM revenue_by_day v WHERE app_id = :app AND v.day >= (now() - interval '3 months')::date
 GROUP BY v.day, currency ORDER BY v.day DESC, currency
