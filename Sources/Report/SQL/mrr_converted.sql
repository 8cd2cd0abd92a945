-- MRR and its movement by month and reporting currency.
SELECT to_char(month, 'YYYY-MM') AS month, reporting_currency AS currency, opening_estimated_milliunits AS opening,
       new_estimated_milliunits AS new, reactivation_estimated_milliunits AS reactivation,
       expansion_estimated_milliunits AS expansion, contraction_estimated_milliunits AS contraction,
       churn_estimated_milliunits AS churn, closing_estimated_milliunits AS closing, gross_mrr_retention AS gross,
       net_mrr_retention AS net, quick_ratio,
       coalesce(array_to_string(currencies_without_rate, ', '), 'none') AS without_rate
  FROM mrr_movement_converted_by_month v WHERE app_id = :app ORDER BY v.month DESC, reporting_currency
