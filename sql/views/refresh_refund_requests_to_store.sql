-- What does refund_requests_by_month need of each request for a refund, and of each decision without a request?
--
-- A refresh computes these rows again for what changed, and keeps them in refresh_stored_refund_requests.
CREATE OR REPLACE VIEW refresh_refund_requests_to_store AS
SELECT app_id, transaction_id, notification_uuid, date_trunc('month', requested_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
       true AS is_request, outcome, price_milliunits, decided_at - requested_at AS delay
  FROM consumption_requests WHERE requested_at IS NOT NULL
UNION ALL
SELECT n.app_id, n.transaction_id, n.notification_uuid, date_trunc('month', n.signed_date AT TIME ZONE 'UTC')::date, coalesce(n.product_id, t.product_id), t.storefront, t.currency,
       false, CASE n.notification_type WHEN 'REFUND' THEN 'refunded' ELSE 'declined' END, NULL, NULL
  FROM notifications n
  LEFT JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
 WHERE n.notification_type IN ('REFUND', 'REFUND_DECLINED') AND n.signed_date IS NOT NULL
   AND NOT EXISTS (SELECT FROM notifications q
                    WHERE q.app_id = n.app_id AND q.transaction_id = n.transaction_id
                      AND q.notification_type = 'CONSUMPTION_REQUEST' AND q.signed_date <= n.signed_date);
