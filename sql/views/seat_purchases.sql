-- What did the seats of a subscription cost, and which seats were added during a period?
--
-- One row per purchase (refresh_purchase_records) of a subscription with several seats, and per purchase of a period that several transactions
-- represent. For seats, Apple's price is the average price of a seat. The amount is therefore the sum of Apple's price tiers,
-- each price times its seats. Without tiers that add up to the quantity, it is the average price times the quantity.
-- Transactions of members (FAMILY_SHARED, ASSIGNED) are not purchases. Source: TransactionMultiSeatInfo and
-- additionalTransactionReason, App Store Server API 1.23, read 2026-11.
--
-- The condition on type, quantity and reason is the same as in the index transactions_seats.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW seat_purchases AS
SELECT
    t.app_id, t.transaction_id, t.original_transaction_id, t.product_id, t.storefront, t.purchase_date, t.expires_date,
    t.revocation_date, t.additional_transaction_reason, t.quantity AS seats, t.revoked_seat_quantity AS revoked_seats,
    t.currency, t.price_milliunits AS seat_price_milliunits, paid.price_milliunits,
    t.price_milliunits * 0.001 AS seat_price_amount, paid.price_milliunits * 0.001 AS price_amount
FROM refresh_purchase_records t
CROSS JOIN LATERAL (
    SELECT CASE WHEN t.quantity > 1 AND t.price_milliunits > 0 THEN coalesce(
        (SELECT CASE WHEN sum((tier -> 'quantity')::numeric) = t.quantity
                     THEN sum((tier -> 'price')::numeric * (tier -> 'quantity')::numeric)::bigint END
           -- A tier with another type or range is left out, so that the tiers do not add up to the quantity.
           FROM jsonb_path_query(t.payload, '$.multiSeatInfo.priceTiers[*] ? (@.price >= 0 && @.price <= 1000000000000
                                             && @.quantity >= 1 && @.quantity <= 1000000)') AS tier),
        t.price_milliunits * t.quantity
    ) ELSE t.price_milliunits END AS price_milliunits
) paid
WHERE t.type = 'Auto-Renewable Subscription' AND (t.quantity > 1 OR t.additional_transaction_reason IS NOT NULL)
  AND t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED';
COMMENT ON VIEW seat_purchases IS
    'Purchases of subscriptions with several seats: how many seats, at which average price, and what all of them cost, before Apple''s commission and tax. Seats that were added during a period have a separate transaction. Use App Store Connect''s reports for accounting.';
COMMENT ON COLUMN seat_purchases.seats IS 'Apple''s quantity: the seats that this transaction bought, refunded ones included.';
COMMENT ON COLUMN seat_purchases.revoked_seats IS
    'Apple''s revokedSeatQuantity: the seats of this transaction that were refunded while others remain. Apple reports neither the amount nor the date in the transaction, so price_milliunits contains them. NULL if there are none.';
COMMENT ON COLUMN seat_purchases.seat_price_milliunits IS 'Apple''s price: the average price of a seat, in thousandths of a unit of currency.';
COMMENT ON COLUMN seat_purchases.price_milliunits IS
    'What all seats of the transaction cost, in thousandths of a unit of currency: from Apple''s price tiers, or the average price times the seats. NULL if Apple sends no price.';
