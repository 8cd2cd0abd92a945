-- Which status did Apple report for each subscription?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_subscription_statuses WITH (security_barrier) AS
SELECT
    app_id, original_transaction_id, subscription_group_identifier, status, transaction_id, asked_at, first_seen_at,
    last_changed_at, last_run_id, records_signed_date, ended_at
FROM subscription_statuses;
COMMENT ON VIEW masked_subscription_statuses IS 'Subscription statuses for analysts: all of subscription_statuses.';
