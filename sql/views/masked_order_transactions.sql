-- Which transactions does an order have?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_order_transactions WITH (security_barrier) AS
SELECT app_id, order_id, transaction_id FROM order_transactions;
COMMENT ON VIEW masked_order_transactions IS 'The transactions of orders for analysts: all of order_transactions.';
