-- What was refunded, why, and how long after the purchase?
--
-- The query starts with the few transactions that have a revocation or a refunded line item, so that it does not scan all
-- transactions. For the same reason it derives refund_date, which is the same as in purchases, without reading purchases.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refunded_purchases AS
SELECT
    p.app_id, p.transaction_id, p.original_transaction_id, p.product_id, p.type, p.storefront, p.currency,
    p.purchase_date, refund.refund_date, refund.refund_date - p.purchase_date AS delay,
    (date_trunc('month', refund.refund_date AT TIME ZONE 'UTC'))::date AS refund_month,
    CASE p.refund_reason WHEN 1 THEN 'issue with the app' WHEN 0 THEN 'other' ELSE 'not told' END AS reason,
    t.revocation_type,
    p.price_milliunits, p.refunded_milliunits,
    round(p.refunded_milliunits::numeric / nullif(p.price_milliunits, 0), 5) AS refunded_share,
    asked.consumption_request_reason AS requested_because,
    p.customer_key, p.price_amount, p.refunded_amount
FROM (
    SELECT app_id, transaction_id, revocation_date AS refund_date
      FROM transactions WHERE revocation_date IS NOT NULL AND revocation_type IS DISTINCT FROM 'FAMILY_REVOKE'
       AND revocation_type IS DISTINCT FROM 'ASSIGNMENT_REVOKE'
    UNION ALL
    SELECT r.app_id, r.owner_key, min(r.refund_date)
      FROM advanced_commerce_refunds r
     WHERE r.owner_kind = 'transaction'
       AND NOT EXISTS (SELECT FROM transactions w
                        WHERE w.app_id = r.app_id AND w.transaction_id = r.owner_key AND w.revocation_date IS NOT NULL
                          AND w.revocation_type IS DISTINCT FROM 'FAMILY_REVOKE'
                          AND w.revocation_type IS DISTINCT FROM 'ASSIGNMENT_REVOKE')
     GROUP BY r.app_id, r.owner_key
) refund
JOIN purchases p ON p.app_id = refund.app_id AND p.transaction_id = refund.transaction_id
JOIN transactions t ON t.app_id = p.app_id AND t.transaction_id = p.transaction_id
LEFT JOIN LATERAL (
    SELECT n.consumption_request_reason FROM notifications n
     WHERE n.app_id = p.app_id AND n.transaction_id = p.transaction_id AND n.notification_type = 'CONSUMPTION_REQUEST'
       AND n.signed_date <= refund.refund_date
     ORDER BY n.signed_date DESC LIMIT 1
) asked ON true
WHERE refund.refund_date IS NOT NULL;
COMMENT ON VIEW refunded_purchases IS
    'Purchases that are refunded in whole or in part, including free ones; reversed refunds are excluded. Views with sums count only those with a price (price_milliunits is not 0). Apple''s data do not contain the customer''s own words. Revocations of Family Sharing are in family_sharing_by_month.';
COMMENT ON COLUMN refunded_purchases.refund_date IS 'When the purchase was refunded. For several line items, the date of the first refund.';
COMMENT ON COLUMN refunded_purchases.delay IS 'Time from the purchase to the refund.';
COMMENT ON COLUMN refunded_purchases.refund_month IS 'The month of the refund; its first day, in UTC.';
COMMENT ON COLUMN refunded_purchases.reason IS 'Apple''s revocationReason in words: issue with the app, other, or not told (Apple sends no reason).';
COMMENT ON COLUMN refunded_purchases.refunded_milliunits IS 'Refunded amount, in thousandths of a unit of currency, as in purchases.';
COMMENT ON COLUMN refunded_purchases.price_milliunits IS
    'The price of the whole quantity or of all seats, as in purchases, in thousandths of a unit of currency. NULL if Apple sends no price.';
COMMENT ON COLUMN refunded_purchases.refunded_share IS 'refunded_milliunits divided by the price, 0 to 1. NULL if the price is 0 or unknown.';
COMMENT ON COLUMN refunded_purchases.customer_key IS 'Identifies the customer, as in purchases.';
COMMENT ON COLUMN refunded_purchases.requested_because IS
    'Apple''s consumptionRequestReason of the last request before the refund. NULL if there was no request, or if Apple no longer kept its notification.';
COMMENT ON COLUMN refunded_purchases.revocation_type IS
    'Apple''s revocationType: REFUND_FULL or REFUND_PRORATED. NULL for Advanced Commerce, and in records from before Apple sent it.';
