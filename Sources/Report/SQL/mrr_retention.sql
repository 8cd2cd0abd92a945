-- MRR retention by month and currency.
SELECT to_char(month, 'YYYY-MM') AS month, currency, opening_milliunits AS opening, gross_mrr_retention AS gross,
       net_mrr_retention AS net
  FROM mrr_retention_by_month v WHERE app_id = :app AND gross_mrr_retention IS NOT NULL ORDER BY v.month DESC, currency
