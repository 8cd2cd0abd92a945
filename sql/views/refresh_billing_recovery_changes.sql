-- What do the subscriptions that changed add to refresh_billing_recovery_totals?
CREATE OR REPLACE VIEW refresh_billing_recovery_changes AS
SELECT
    app_id, month, product_id,
    sum(sign) AS failed,
    sum(sign) FILTER (WHERE delay IS NOT NULL) AS recovered,
    sum(sign) FILTER (WHERE is_tried) AS still_tried,
    sum(sign) FILTER (WHERE delay IS NULL AND NOT is_tried) AS lost
FROM refresh_changed_failures
GROUP BY app_id, month, product_id;
