-- Which notifications did Apple send, without personal data?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_notifications WITH (security_barrier) AS
SELECT
    app_id, notification_uuid, notification_type, subtype, version, bundle_id, app_apple_id, environment,
    bundle_version, status, consumption_request_reason, transaction_id, original_transaction_id,
    web_order_line_item_id, app_transaction_id, product_id, subscription_group_identifier, summary_product_id,
    summary_request_identifier, summary_storefront_country_codes, summary_succeeded_count, summary_failed_count,
    external_purchase_token_creation_date, external_purchase_token_expiration_date, external_purchase_token_type,
    app_transaction_receipt_type, app_transaction_application_version, app_transaction_version_external_identifier,
    app_transaction_receipt_creation_date, app_transaction_original_purchase_date,
    app_transaction_original_application_version, app_transaction_original_platform, app_transaction_preorder_date,
    app_transaction_store_type, unclaim_seat_ids, signed_date, first_seen_at, last_changed_at, last_run_id, late_run_id, app_account_token IS NOT NULL AS has_app_account_token
FROM notifications;
COMMENT ON VIEW masked_notifications IS 'Notifications for analysts: the rows of notifications without payload and tokens.';
COMMENT ON COLUMN masked_notifications.has_app_account_token IS 'Whether the record has an appAccountToken. The token itself is personal data.';
