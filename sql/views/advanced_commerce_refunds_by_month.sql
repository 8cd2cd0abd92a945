-- What was refunded of Advanced Commerce purchases, by item and reason?
--
-- One row for each app_id, month, sku, currency, refund_reason, refund_type. The month is the month of the refund. A purchase under two
-- transaction IDs counts once (refresh_purchase_records).
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW advanced_commerce_refunds_by_month AS
SELECT
    r.app_id, date_trunc('month', r.refund_date AT TIME ZONE 'UTC')::date AS month, i.sku, r.currency,
    r.refund_reason, r.refund_type, count(*) AS refunds, count(DISTINCT r.owner_key) AS transactions,
    sum(r.refund_amount_milliunits)::bigint AS refunded_milliunits,
    (sum(r.refund_amount_milliunits) * 0.001)::numeric AS refunded_amount
FROM advanced_commerce_refunds r
JOIN advanced_commerce_items i ON i.app_id = r.app_id AND i.owner_kind = r.owner_kind AND i.owner_key = r.owner_key
                              AND i.position = r.item_position
JOIN refresh_purchase_records t ON t.app_id = r.app_id AND t.transaction_id = r.owner_key
WHERE r.owner_kind = 'transaction'
GROUP BY r.app_id, date_trunc('month', r.refund_date AT TIME ZONE 'UTC')::date, i.sku, r.currency, r.refund_reason, r.refund_type;
COMMENT ON VIEW advanced_commerce_refunds_by_month IS
    'Refunds of Advanced Commerce items by month, item, reason and type. refunded_purchases has the purchases.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.month IS 'The month of the refund; its first day, in UTC. NULL if Apple sends no refundDate.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.sku IS 'Apple''s SKU of the item. NULL if Apple sends none.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.currency IS 'The currency of the purchase, ISO 4217.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.refund_reason IS 'Apple''s refundReason, such as LEGAL. NULL if Apple sends none.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.refund_type IS 'Apple''s refundType: FULL, PRORATED or CUSTOM. NULL if Apple sends none.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.refunds IS 'Number of refunds. An item can be refunded in several parts.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.transactions IS 'Number of transactions with such a refund.';
COMMENT ON COLUMN advanced_commerce_refunds_by_month.refunded_milliunits IS 'Refunded amount, in thousandths of a unit of currency.';
