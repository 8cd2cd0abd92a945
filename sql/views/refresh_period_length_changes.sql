-- What do the subscriptions that changed add to refresh_period_length_totals?
--
-- One row for each app_id, product_id, period.
CREATE OR REPLACE VIEW refresh_period_length_changes AS
SELECT app_id, product_id, period_by_length AS period, sum(sign) AS periods
FROM refresh_changed_periods
WHERE has_usual_length(product_id, period_by_length, is_extended, offer_type, offer_discount_type, billing_plan_type)
GROUP BY app_id, product_id, period_by_length;
