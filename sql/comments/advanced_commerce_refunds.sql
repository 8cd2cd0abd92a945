COMMENT ON TABLE advanced_commerce_refunds IS 'Refunds of line items, from advancedCommerceInfo of transactions.';
COMMENT ON COLUMN advanced_commerce_refunds.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN advanced_commerce_refunds.owner_kind IS 'The kind of record that contains the item: transaction or renewal.';
COMMENT ON COLUMN advanced_commerce_refunds.owner_key IS
    'The transaction_id of the transaction, or the original_transaction_id of the renewal.';
COMMENT ON COLUMN advanced_commerce_refunds.item_position IS 'Index of the refunded item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_refunds.position IS 'Index of the refund in the item''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_date IS 'Apple''s refundDate: when the item was refunded.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_amount_milliunits IS 'Apple''s refundAmount in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_refunds.currency IS
    'Currency of the amount: Apple''s ISO 4217 code in the transaction that contains the item.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_type IS 'Apple''s refundType: FULL, PRORATED or CUSTOM.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_reason IS 'Apple''s refundReason, such as UNINTENDED_PURCHASE.';
