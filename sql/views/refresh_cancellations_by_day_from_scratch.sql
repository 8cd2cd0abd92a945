-- What does cancellations_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of cancellations_by_day.
CREATE OR REPLACE VIEW refresh_cancellations_by_day_from_scratch AS
SELECT
    n.app_id, (n.signed_date AT TIME ZONE 'UTC')::date AS day, coalesce(p.product_id, n.product_id) AS product_id, p.storefront, p.currency,
    count(*) FILTER (WHERE n.subtype = 'AUTO_RENEW_DISABLED') AS cancelled,
    count(*) FILTER (WHERE n.subtype = 'AUTO_RENEW_DISABLED' AND p.is_trial) AS cancelled_trials,
    count(*) FILTER (WHERE n.subtype = 'AUTO_RENEW_ENABLED') AS resumed,
    count(*) FILTER (WHERE n.subtype = 'AUTO_RENEW_ENABLED' AND p.is_trial) AS resumed_trials,
    coalesce(sum(p.mrr_milliunits) FILTER (WHERE n.subtype = 'AUTO_RENEW_DISABLED'), 0)::bigint AS cancelled_mrr_milliunits,
    coalesce(sum(p.mrr_milliunits) FILTER (WHERE n.subtype = 'AUTO_RENEW_ENABLED'), 0)::bigint AS resumed_mrr_milliunits,
    coalesce(sum(p.mrr_milliunits) FILTER (WHERE n.subtype = 'AUTO_RENEW_DISABLED'), 0) * 0.001 AS cancelled_mrr_amount,
    coalesce(sum(p.mrr_milliunits) FILTER (WHERE n.subtype = 'AUTO_RENEW_ENABLED'), 0) * 0.001 AS resumed_mrr_amount
FROM notifications n
LEFT JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
-- The transaction can be another one of the same purchase; see refresh_purchase_records.
LEFT JOIN (
    SELECT DISTINCT ON (app_id, original_transaction_id, coalesce(web_order_line_item_id, transaction_id)) *
      FROM subscription_periods_at_refresh
     ORDER BY app_id, original_transaction_id, coalesce(web_order_line_item_id, transaction_id), period_number
) p ON p.app_id = t.app_id AND p.original_transaction_id = t.original_transaction_id
   AND coalesce(p.web_order_line_item_id, p.transaction_id) = coalesce(t.web_order_line_item_id, t.transaction_id)
WHERE n.notification_type = 'DID_CHANGE_RENEWAL_STATUS' AND n.subtype IN ('AUTO_RENEW_DISABLED', 'AUTO_RENEW_ENABLED')
  AND n.signed_date IS NOT NULL AND p.is_family_shared IS NOT TRUE
GROUP BY n.app_id, (n.signed_date AT TIME ZONE 'UTC')::date, coalesce(p.product_id, n.product_id), p.storefront, p.currency;
