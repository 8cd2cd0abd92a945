-- Which line items of Advanced Commerce purchases were refunded?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_advanced_commerce_refunds WITH (security_barrier) AS
SELECT
    app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits, currency,
    refund_type, refund_reason, refund_amount_milliunits * 0.001 AS refund_amount
FROM advanced_commerce_refunds;
COMMENT ON VIEW masked_advanced_commerce_refunds IS 'Refunds of line items for analysts. They contain no personal data.';
