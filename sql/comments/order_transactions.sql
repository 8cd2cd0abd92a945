COMMENT ON TABLE order_transactions IS 'Which transactions an order has; they are in transactions.';
COMMENT ON COLUMN order_transactions.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN order_transactions.order_id IS 'The order, in orders.';
COMMENT ON COLUMN order_transactions.transaction_id IS 'A transaction of the order, in transactions.';
