-- MRR and its movement by month and currency.
SELECT to_char(month, 'YYYY-MM') AS month, currency, opening_milliunits AS opening, new_milliunits AS new,
       reactivation_milliunits AS reactivation, expansion_milliunits AS expansion,
       switched_in_milliunits AS switched_in, contraction_milliunits AS contraction, churn_milliunits AS churn,
       switched_out_milliunits AS switched_out, closing_milliunits AS closing,
       closing_subscriptions AS subscriptions
  FROM mrr_movement_by_month v WHERE app_id = :app ORDER BY v.month DESC, currency
