-- What was bought, and how much of each price is left after refunds?
--
-- One row per purchase (refresh_purchase_records): a second transaction ID of the same purchase and a restored non-consumable are no purchases.
-- No row for transactions that a family member shared (FAMILY_SHARED) or that an organization or group
-- assigned (ASSIGNED): their purchaser has a separate transaction. Refunds are taken from Apple's newest
-- snapshot: a reversed refund has no revocationDate any more and does not count. The refunded amount is the first that is
-- known of these, and never more than a known price: the whole price for REFUND_FULL; the sum of the line items' refunds, for
-- Advanced Commerce, whose transactions have neither revocationType nor revocationPercentage; revocationPercentage of the
-- price; the whole price. Apple's refundAmount of a line item contains tax where the price does, so it is subtracted as it is.
--
-- For a subscription with several seats, Apple's price is the average price of a seat. The price here covers all seats,
-- as in seat_purchases. A refund of some seats (revokedSeatQuantity) has neither an amount nor a date, so it is not included.
--
-- When a customer upgrades during a period, Apple refunds the unused part of the old period. Apple reports this refund in
-- no field: both transactions keep their full price, and price, refunded and net count both. subscription_periods has an
-- estimate in a separate column.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW purchases AS
SELECT
    t.app_id, t.transaction_id, t.original_transaction_id,
    t.customer_key,
    t.purchase_date, (date_trunc('month', t.purchase_date AT TIME ZONE 'UTC'))::date AS month,
    t.product_id, t.type, t.storefront, t.currency, t.quantity, t.transaction_reason, t.offer_type, t.offer_identifier,
    t.offer_discount_type,
    paid.price_milliunits,
    paid.price_milliunits IS DISTINCT FROM 0 AS is_paid,
    refund.refund_date IS NOT NULL AS is_refunded,
    refund.refund_date,
    (date_trunc('month', refund.refund_date AT TIME ZONE 'UTC'))::date AS refund_month,
    CASE WHEN refund.refund_date IS NOT NULL THEN t.revocation_reason END AS refund_reason,
    CASE WHEN refund.refund_date IS NULL THEN 0 ELSE refund.refunded_milliunits END AS refunded_milliunits,
    paid.price_milliunits - CASE WHEN refund.refund_date IS NULL THEN 0 ELSE refund.refunded_milliunits END AS net_milliunits,
    paid.price_milliunits * 0.001 AS price_amount,
    CASE WHEN refund.refund_date IS NULL THEN 0 ELSE refund.refunded_milliunits END * 0.001 AS refunded_amount,
    (paid.price_milliunits - CASE WHEN refund.refund_date IS NULL THEN 0 ELSE refund.refunded_milliunits END) * 0.001 AS net_amount,
    t.price_milliunits / CASE WHEN t.type = 'Auto-Renewable Subscription' THEN 1 ELSE greatest(t.quantity, 1) END AS unit_price_milliunits,
    t.price_milliunits / CASE WHEN t.type = 'Auto-Renewable Subscription' THEN 1 ELSE greatest(t.quantity, 1) END * 0.001 AS unit_price_amount,
    -- Only Advanced Commerce has such offers, so the payloads of other transactions are not read.
    CASE WHEN t.advanced_commerce_request_reference_id IS NOT NULL THEN t.payload @? '$.advancedCommerceInfo.items[*].offer'
         ELSE false END AS has_item_offer
FROM refresh_purchase_records t
-- One look-up for each transaction: a sum over all refunds first would be computed for each subscription of a refresh.
CROSS JOIN LATERAL (
    SELECT sum(r.refund_amount_milliunits)::bigint AS amount, min(r.refund_date) AS first_date
      FROM advanced_commerce_refunds r
     WHERE r.owner_kind = 'transaction' AND r.app_id = t.app_id AND r.owner_key = t.transaction_id
) items
LEFT JOIN seat_purchases seats ON seats.app_id = t.app_id AND seats.original_transaction_id = t.original_transaction_id
                              AND seats.transaction_id = t.transaction_id
CROSS JOIN LATERAL (SELECT coalesce(seats.price_milliunits, t.price_milliunits) AS price_milliunits) paid
CROSS JOIN LATERAL (
    SELECT coalesce(CASE WHEN t.revocation_type IS DISTINCT FROM 'FAMILY_REVOKE'
                          AND t.revocation_type IS DISTINCT FROM 'ASSIGNMENT_REVOKE' THEN t.revocation_date END,
                    items.first_date) AS refund_date,
           least(paid.price_milliunits, coalesce(
               CASE WHEN t.revocation_type = 'REFUND_FULL' THEN paid.price_milliunits END,
               items.amount,
               round(paid.price_milliunits * coalesce(t.revocation_percentage_milliunits, 100000) / 100000.0)::bigint
           )) AS refunded_milliunits
) refund
WHERE t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED';
COMMENT ON VIEW purchases IS
    'Every purchase with its price, its refund and the rest, in the currency of the purchase, before Apple''s commission and tax. Apple refunds part of the price when a customer upgrades during a period, but reports that refund in no field, so no amount here includes it; see estimated_upgrade_refund_milliunits in subscription_periods. Use App Store Connect''s reports for accounting.';
COMMENT ON COLUMN purchases.customer_key IS
    'Identifies the customer as well as Apple''s data allow, the same for all purchases of one originalTransactionId: appTransactionId of its first transaction, or of the earliest that has one; else listed_transaction_id, the ID for which a job requested the history; else the original transaction ID.';
COMMENT ON COLUMN purchases.month IS 'The month of the purchase; its first day, in UTC.';
COMMENT ON COLUMN purchases.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group. price_milliunits is the price of all of them.';
COMMENT ON COLUMN purchases.price_milliunits IS
    'The price of the whole quantity after offers, in thousandths of a unit of currency: Apple''s price or, for a subscription with several seats, the price of all seats (seat_purchases). NULL if Apple sends no price.';
COMMENT ON COLUMN purchases.is_paid IS 'Whether the price is not 0. An unknown price counts as paid.';
COMMENT ON COLUMN purchases.is_refunded IS 'Whether the purchase is refunded in whole or in part, according to Apple''s newest snapshot. A free purchase can be refunded too.';
COMMENT ON COLUMN purchases.refund_date IS 'When the purchase was refunded. For several line items, the date of the first refund.';
COMMENT ON COLUMN purchases.refund_month IS 'The month of the refund; its first day, in UTC.';
COMMENT ON COLUMN purchases.refund_reason IS 'Apple''s revocationReason: 1 an issue with the app, 0 another reason.';
COMMENT ON COLUMN purchases.refunded_milliunits IS
    'Refunded amount, in thousandths of a unit of currency, at most the price: the whole price for REFUND_FULL; else, for Advanced Commerce, the sum of refundAmount of the line items; else revocationPercentage of the price; else the whole price. 0 without a refund. For an unknown price, the sum of the line items, or NULL.';
COMMENT ON COLUMN purchases.net_milliunits IS 'price_milliunits less refunded_milliunits. The estimated refund of an upgrade is not subtracted.';
COMMENT ON COLUMN purchases.unit_price_milliunits IS
    'The price of one unit, or the average price of a seat, in thousandths of a unit of currency. NULL if Apple sends no price.';
COMMENT ON COLUMN purchases.has_item_offer IS
    'Whether an item of the purchase has an offer of Advanced Commerce, so that the price is lower than the sum of the items'' prices. offer_type has no value for these offers.';
