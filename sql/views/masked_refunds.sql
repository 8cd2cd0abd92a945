-- What was refunded or revoked, when and why, without personal data?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_refunds WITH (security_barrier) AS
SELECT
    app_id, transaction_id, original_transaction_id, web_order_line_item_id, app_transaction_id, product_id,
    subscription_group_identifier, type, in_app_ownership_type, quantity, price_milliunits, currency, storefront,
    storefront_id, purchase_date, original_purchase_date, revocation_date, revocation_reason, revocation_type,
    revocation_percentage_milliunits, signed_date, first_seen_at, last_changed_at, last_run_id,
    app_account_token IS NOT NULL AS has_app_account_token, price_milliunits * 0.001 AS price_amount
FROM refunds;
COMMENT ON VIEW masked_refunds IS 'Refunds for analysts: the rows of refunds without payload and appAccountToken.';
COMMENT ON COLUMN masked_refunds.has_app_account_token IS 'Whether the record has an appAccountToken. The token itself is personal data.';
