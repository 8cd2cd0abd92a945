-- Which records of transactions are separate purchases, and which customer made each?
--
-- Apple confirms that several transaction IDs can refer to one purchase (apple/app-store-server-library-node, issue 28): a purchase that
-- is granted again, or read on several devices. Such records have the same originalTransactionId and webOrderLineItemId, which
-- identifies a purchase of a subscription. The table transactions keeps each of them. Here one of them stands for the purchase: one with a
-- price before one without, then the one that Apple signed last, so that a refund and its reversal count whichever ID they came
-- with. A refund or reversal that only a record without a price has is not found: each purchase would need another look-up, or each refresh
-- another scan. Records with different inAppOwnershipType are different purchases. Seats that are added during a period are a separate purchase.
-- Apple does not document their webOrderLineItemId, so two records of which at least one has additionalTransactionReason are one purchase
-- only with the same purchaseDate.
--
-- A restored non-consumable (transactionId differs from originalTransactionId, and originalPurchaseDate is older) is no sale. It is left
-- out if the ledger has an earlier record of the same originalTransactionId.
--
-- One originalTransactionId belongs to one customer, although appTransactionId can change within a subscription: the customer of
-- its first transaction. If that is missing or has no appTransactionId, the earliest record with one names the customer.
--
-- The slow part of customer_key is a sub-query that only records without such a first transaction need.
--
-- The view is internal: the views about purchases and periods read it. PostgreSQL replaces t.* by the columns that transactions has when the view is
-- created. So if a migration adds a column that views read, change this file too: only then does migrate create the view again.
CREATE OR REPLACE VIEW refresh_purchase_records AS
SELECT
    t.*,
    coalesce(
        first.app_transaction_id,
        CASE WHEN first.app_transaction_id IS NULL THEN (
            SELECT coalesce(o.app_transaction_id, o.listed_transaction_id)
              FROM transactions o
             WHERE o.app_id = t.app_id AND o.original_transaction_id = t.original_transaction_id
             ORDER BY o.app_transaction_id IS NULL, o.listed_transaction_id IS NULL, o.purchase_date, o.transaction_id
             LIMIT 1
        ) END,
        CASE WHEN t.original_transaction_id IS NULL THEN coalesce(t.app_transaction_id, t.listed_transaction_id) END,
        t.original_transaction_id, t.transaction_id
    ) AS customer_key
FROM transactions t
LEFT JOIN transactions first ON first.app_id = t.app_id AND first.transaction_id = t.original_transaction_id
                            AND first.original_transaction_id = t.original_transaction_id
WHERE NOT EXISTS (
    SELECT FROM transactions o
     WHERE o.app_id = t.app_id AND o.original_transaction_id = t.original_transaction_id
       AND o.web_order_line_item_id = t.web_order_line_item_id
       AND o.in_app_ownership_type IS NOT DISTINCT FROM t.in_app_ownership_type
       AND (o.purchase_date IS NOT DISTINCT FROM t.purchase_date
            OR coalesce(o.additional_transaction_reason, t.additional_transaction_reason) IS NULL)
       -- A record with a revocation was signed after the revocation, whatever its signed_date says.
       AND (o.price_milliunits IS NOT NULL, coalesce(greatest(o.signed_date, o.revocation_date), '-infinity'),
            o.revocation_date IS NOT NULL, o.transaction_id)
           > (t.price_milliunits IS NOT NULL, coalesce(greatest(t.signed_date, t.revocation_date), '-infinity'),
              t.revocation_date IS NOT NULL, t.transaction_id)
)
AND NOT (
    t.type IS NOT DISTINCT FROM 'Non-Consumable' AND t.transaction_id <> t.original_transaction_id
    AND t.original_purchase_date < t.purchase_date
    -- A separate sub-query, so that it is computed only for restored purchases.
    AND (SELECT EXISTS (
        SELECT FROM transactions o
         WHERE o.app_id = t.app_id AND o.original_transaction_id = t.original_transaction_id
           AND o.type = 'Non-Consumable' AND o.in_app_ownership_type IS NOT DISTINCT FROM t.in_app_ownership_type
           AND (o.purchase_date, o.transaction_id) < (t.purchase_date, t.transaction_id)
    ))
) IS TRUE;
COMMENT ON VIEW refresh_purchase_records IS
    'The records of transactions that are separate purchases, with their customer. A second record of the same purchase, under another transaction ID, is left out, and so is a restored non-consumable. Only for other views.';
COMMENT ON COLUMN refresh_purchase_records.customer_key IS
    'Identifies the customer as well as Apple''s data allow: appTransactionId of the first transaction of the same originalTransactionId; else the appTransactionId of the earliest record with one; else listed_transaction_id, the ID for which a job requested the history; else the original transaction ID.';
