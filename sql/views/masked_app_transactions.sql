-- When and where did each customer first get the app, without what identifies a device?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_app_transactions WITH (security_barrier) AS
SELECT
    app_id, app_transaction_id, bundle_id, app_apple_id, receipt_type, application_version, version_external_identifier,
    receipt_creation_date, original_purchase_date, original_application_version, original_platform, preorder_date,
    store_type, signed_date, first_seen_at, last_changed_at, last_run_id
FROM app_transactions;
COMMENT ON VIEW masked_app_transactions IS 'App transactions for analysts: app_transactions without payload and without device verification.';
