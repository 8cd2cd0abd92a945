-- Average revenue by month and currency.
SELECT to_char(month, 'YYYY-MM') AS month, currency, customers, paying_customers AS payers, net_milliunits AS net,
       arpu_milliunits AS arpu, arppu_milliunits AS arppu
  FROM average_revenue_by_month v WHERE app_id = :app AND currency IS NOT NULL ORDER BY v.month DESC, currency
