-- What does cancellations_by_day need of each notification that auto-renewal was turned off or on?
--
-- The periods are from refresh_stored_periods. A refresh computes these rows again for what changed, and keeps
-- them in refresh_stored_cancellations.
CREATE OR REPLACE VIEW refresh_cancellations_to_store AS
SELECT
    n.app_id, n.transaction_id, n.notification_uuid,
    (n.signed_date AT TIME ZONE 'UTC')::date AS day, coalesce(p.product_id, n.product_id) AS product_id,
    p.storefront, p.currency, n.subtype = 'AUTO_RENEW_ENABLED' AS is_renewal_on, p.is_trial, p.mrr_milliunits
FROM notifications n
LEFT JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
-- The transaction can be another one of the same purchase; see refresh_purchase_records.
LEFT JOIN LATERAL (
    SELECT * FROM refresh_stored_periods p
     WHERE p.app_id = t.app_id AND p.original_transaction_id = t.original_transaction_id
       AND coalesce(p.web_order_line_item_id, p.transaction_id) = coalesce(t.web_order_line_item_id, t.transaction_id)
     ORDER BY p.period_number LIMIT 1
) p ON true
WHERE n.notification_type = 'DID_CHANGE_RENEWAL_STATUS' AND n.subtype IN ('AUTO_RENEW_DISABLED', 'AUTO_RENEW_ENABLED')
  AND n.signed_date IS NOT NULL AND p.is_family_shared IS NOT TRUE;
