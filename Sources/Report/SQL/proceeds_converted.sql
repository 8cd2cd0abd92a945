-- Estimated proceeds by month and reporting currency, and whether rates or rules are missing.
SELECT to_char(month, 'YYYY-MM') AS month, reporting_currency AS currency, sum(proceeds_estimated_milliunits) AS proceeds,
       CASE WHEN bool_or(currencies_without_rate IS NOT NULL) THEN 'rates are missing'
            WHEN bool_or(is_without_rule) THEN 'rules are missing' ELSE 'yes' END AS is_complete
  FROM proceeds_converted_by_month v WHERE app_id = :app
 GROUP BY v.month, reporting_currency ORDER BY v.month DESC, reporting_currency
