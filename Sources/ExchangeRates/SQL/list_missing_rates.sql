-- Sales and refunds without a rate, by app and currency.
SELECT m.reporting_currency, m.currency, a.bundle_id AS app, a.environment, m.days, m.first_day::text AS first_day,
       m.last_day::text AS last_day, m.purchases, m.gross_amount::text AS gross, m.refunded_amount::text AS refunded
  FROM missing_rates m JOIN masked_apps a USING (app_id)
 ORDER BY m.reporting_currency, m.currency, a.bundle_id, a.environment
