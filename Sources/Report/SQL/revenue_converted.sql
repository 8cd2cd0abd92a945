-- Sales and refunds by month and reporting currency, and the currencies without a rate.
SELECT to_char(month, 'YYYY-MM') AS month, currency, purchases, gross, refunded, net, coalesce((
           SELECT string_agg(DISTINCT name, ', ' ORDER BY name) FROM unnest(string_to_array(missing, ',')) name
       ), 'none') AS without_rate
  FROM (SELECT v.month, reporting_currency AS currency, sum(purchases) AS purchases,
               sum(gross_estimated_milliunits) AS gross, sum(refunded_estimated_milliunits) AS refunded,
               sum(net_estimated_milliunits) AS net,
               string_agg(array_to_string(currencies_without_rate, ','), ',') AS missing
          FROM revenue_converted_by_month v WHERE app_id = :app GROUP BY v.month, reporting_currency) sums
 ORDER BY sums.month DESC, currency
