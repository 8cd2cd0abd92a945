COMMENT ON TABLE orders IS 'The result of each order lookup.';
COMMENT ON COLUMN orders.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN orders.order_id IS 'The order ID, as in the customer''s receipt from Apple.';
COMMENT ON COLUMN orders.status IS 'Apple''s status of the lookup: 0 valid, 1 invalid.';
COMMENT ON COLUMN orders.asked_at IS 'When Apple answered, by the database''s clock; the newest answer is kept.';
COMMENT ON COLUMN orders.first_seen_at IS 'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN orders.last_changed_at IS 'When an answer last differed from the one before.';
COMMENT ON COLUMN orders.last_run_id IS 'The run that last wrote the row.';
