-- Which Advanced Commerce items were sold, and how much of each was refunded?
--
-- The customer pays the price of the item's offer while there is one: Apple's sample of a transaction with items of 9990 and 3990, the
-- second one with an offer of 2990, has the price 12980. So what the lines of a transaction are paid adds up to its price.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW advanced_commerce_lines AS
SELECT
    i.app_id, i.owner_key AS transaction_id, i.position, i.sku, i.display_name, i.description,
    t.original_transaction_id, t.product_id, t.purchase_date, t.storefront,
    i.price_milliunits, i.currency,
    i.offer_price_milliunits, i.offer_period, i.offer_period_count, i.offer_reason,
    coalesce(r.refunds, 0) AS refunds, coalesce(r.refunded_milliunits, 0) AS refunded_milliunits,
    coalesce(i.offer_price_milliunits, i.price_milliunits) - coalesce(r.refunded_milliunits, 0) AS net_milliunits,
    r.first_refund_date, r.refund_reasons, i.revocation_date,
    i.price_milliunits * 0.001 AS price_amount, i.offer_price_milliunits * 0.001 AS offer_price_amount,
    coalesce(r.refunded_milliunits, 0) * 0.001 AS refunded_amount,
    (coalesce(i.offer_price_milliunits, i.price_milliunits) - coalesce(r.refunded_milliunits, 0)) * 0.001 AS net_amount,
    coalesce(i.offer_price_milliunits, i.price_milliunits) AS paid_milliunits,
    coalesce(i.offer_price_milliunits, i.price_milliunits) * 0.001 AS paid_amount,
    t.customer_key
FROM advanced_commerce_items i
JOIN refresh_purchase_records t ON t.app_id = i.app_id AND t.transaction_id = i.owner_key
LEFT JOIN LATERAL (
    SELECT count(*) AS refunds, sum(f.refund_amount_milliunits)::bigint AS refunded_milliunits,
           min(f.refund_date) AS first_refund_date, array_agg(DISTINCT f.refund_reason) AS refund_reasons
      FROM advanced_commerce_refunds f
     WHERE f.app_id = i.app_id AND f.owner_kind = i.owner_kind AND f.owner_key = i.owner_key AND f.item_position = i.position
    HAVING count(*) > 0
) r ON true
WHERE i.owner_kind = 'transaction';
COMMENT ON VIEW advanced_commerce_lines IS
    'Line items of Advanced Commerce purchases with their refunds. The app sets the prices of an item; paid_milliunits is the one that the customer paid. Members of a family or group have separate lines, and pay nothing; current_advanced_commerce_items and purchases leave them out.';
COMMENT ON COLUMN advanced_commerce_lines.transaction_id IS 'The transaction the item was sold with.';
COMMENT ON COLUMN advanced_commerce_lines.position IS 'Index of the item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_lines.sku IS 'Apple''s SKU of the item.';
COMMENT ON COLUMN advanced_commerce_lines.display_name IS 'Apple''s displayName of the item, which the customer sees.';
COMMENT ON COLUMN advanced_commerce_lines.description IS 'Apple''s description of the item, which the customer does not see.';
COMMENT ON COLUMN advanced_commerce_lines.product_id IS 'The generic product under which the item was sold.';
COMMENT ON COLUMN advanced_commerce_lines.price_milliunits IS 'Apple''s price of the item without its offer, in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_lines.offer_price_milliunits IS 'Apple''s price of the item''s offer in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_lines.offer_period IS 'Apple''s period of the item''s offer: an ISO 8601 duration.';
COMMENT ON COLUMN advanced_commerce_lines.offer_period_count IS 'Apple''s periodCount: the number of periods that the offer lasts.';
COMMENT ON COLUMN advanced_commerce_lines.offer_reason IS 'Apple''s reason for the offer: ACQUISITION, WIN_BACK or RETENTION.';
COMMENT ON COLUMN advanced_commerce_lines.refunds IS 'Number of refunds of the item.';
COMMENT ON COLUMN advanced_commerce_lines.refunded_milliunits IS 'Refunded amount of the item, in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_lines.net_milliunits IS 'paid_milliunits less refunded_milliunits.';
COMMENT ON COLUMN advanced_commerce_lines.first_refund_date IS 'Date of the item''s first refund; NULL if there is none.';
COMMENT ON COLUMN advanced_commerce_lines.refund_reasons IS 'Apple''s refundReason of the refunds, each reason once; NULL if there is none.';
COMMENT ON COLUMN advanced_commerce_lines.revocation_date IS 'Apple''s revocationDate of the item.';
COMMENT ON COLUMN advanced_commerce_lines.paid_milliunits IS
    'What the customer paid for the item, in thousandths of a unit of currency: the price of its offer if it has one, otherwise price_milliunits.';
COMMENT ON COLUMN advanced_commerce_lines.customer_key IS 'Identifies the customer, as in purchases.';
