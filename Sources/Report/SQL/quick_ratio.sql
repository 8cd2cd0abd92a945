-- MRR gained and lost by month and currency.
SELECT to_char(month, 'YYYY-MM') AS month, currency, quick_ratio, arpa_milliunits AS arpa,
       closing_subscriptions AS subscriptions
  FROM mrr_retention_by_month v WHERE app_id = :app ORDER BY v.month DESC, currency
