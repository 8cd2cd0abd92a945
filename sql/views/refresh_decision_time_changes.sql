-- What do the notifications that changed add to refresh_decision_time_totals?
CREATE OR REPLACE VIEW refresh_decision_time_changes AS
SELECT app_id, month, product_id, storefront, currency, delay, sum(sign) AS requests
FROM refresh_changed_refund_requests
WHERE delay IS NOT NULL
GROUP BY app_id, month, product_id, storefront, currency, delay;
