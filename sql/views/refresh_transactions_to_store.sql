-- What do the totals need of each transaction?
--
-- The rows of purchases, and the transactions that family members shared or organizations assigned, which are no
-- purchases. Their price counts only in requests for a refund. A row depends on the records of its transaction alone, never
-- on the time. A refresh computes these rows again for what changed, and keeps them in refresh_stored_transactions.
CREATE OR REPLACE VIEW refresh_transactions_to_store AS
SELECT
    p.app_id, p.original_transaction_id, p.transaction_id, true AS is_purchase, p.customer_key, p.purchase_date, p.product_id,
    p.type, p.storefront, p.currency, p.quantity, p.price_milliunits, p.is_paid, p.is_refunded, p.refund_date,
    p.refund_reason, p.refunded_milliunits, p.net_milliunits,
    CASE WHEN p.offer_type IS NULL AND p.offer_discount_type IS NULL AND NOT p.has_item_offer THEN p.unit_price_milliunits END AS list_price_milliunits,
    p.transaction_reason IS NOT DISTINCT FROM 'RENEWAL' AS is_renewal,
    NULL::text AS in_app_ownership_type, NULL::timestamptz AS revocation_date
FROM purchases p
UNION ALL
SELECT
    t.app_id, t.original_transaction_id, t.transaction_id, false, NULL, t.purchase_date, t.product_id,
    t.type, t.storefront, t.currency, t.quantity, t.price_milliunits, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    t.in_app_ownership_type, t.revocation_date
FROM refresh_purchase_records t
WHERE t.in_app_ownership_type IN ('FAMILY_SHARED', 'ASSIGNED');
