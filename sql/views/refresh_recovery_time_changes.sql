-- What do the subscriptions that changed add to refresh_recovery_time_totals?
CREATE OR REPLACE VIEW refresh_recovery_time_changes AS
SELECT app_id, month, product_id, delay, sum(sign) AS payments
FROM refresh_changed_failures
WHERE delay IS NOT NULL
GROUP BY app_id, month, product_id, delay;
