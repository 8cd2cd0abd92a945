-- Sales and refunds by month and currency.
SELECT to_char(month, 'YYYY-MM') AS month, currency, sum(purchases) AS purchases, sum(gross_milliunits) AS gross,
       sum(refunds) AS refunds, sum(refunded_milliunits) AS refunded, sum(net_milliunits) AS net,
       sum(estimated_upgrade_refund_milliunits) AS upgrade_refunds
  FROM revenue_by_month v WHERE app_id = :app GROUP BY v.month, currency ORDER BY v.month DESC, currency
