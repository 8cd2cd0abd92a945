-- What do the subscriptions that changed add to refresh_period_length_totals?
--
-- One row for each app_id, product_id, period.
CREATE OR REPLACE VIEW refresh_period_length_changes AS
SELECT app_id, product_id, period_by_length AS period, sum(sign) AS periods
FROM refresh_changed_periods
WHERE product_id IS NOT NULL AND period_by_length IS NOT NULL AND NOT is_extended
  AND offer_type IS NULL AND offer_discount_type IS NULL AND billing_plan_type IS DISTINCT FROM 'MONTHLY'
GROUP BY app_id, product_id, period_by_length;
