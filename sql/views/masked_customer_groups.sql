-- Which groups do customers belong to?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_customer_groups WITH (security_barrier) AS
SELECT app_id, group_id, app_transaction_id, listed_transaction_id, group_type, role_product_ids, roles, asked_at, first_seen_at, last_changed_at, last_run_id FROM customer_groups;
COMMENT ON VIEW masked_customer_groups IS 'Groups of customers for analysts: all of customer_groups.';
