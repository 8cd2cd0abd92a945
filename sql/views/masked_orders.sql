-- Which orders were looked up, and which of them are valid?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_orders WITH (security_barrier) AS
SELECT app_id, order_id, status, asked_at, first_seen_at, last_changed_at, last_run_id FROM orders;
COMMENT ON VIEW masked_orders IS 'Order lookups for analysts: all of orders.';
