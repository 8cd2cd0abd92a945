-- MRR by month of expiry and currency, and the part that is at risk.
SELECT to_char(month, 'YYYY-MM') AS month, currency, sum(subscriptions) AS subscriptions,
       sum(will_not_renew) AS will_not_renew, sum(in_grace_period) AS in_grace,
       sum(mrr_milliunits - at_risk_mrr_milliunits) AS renewing, sum(in_grace_period_mrr_milliunits) AS grace,
       sum(will_not_renew_mrr_milliunits) AS cancelled
  FROM mrr_at_risk_by_month v WHERE app_id = :app AND subscriptions > 0 GROUP BY v.month, currency ORDER BY v.month DESC, currency
