-- What was bought, when and for how much, without personal data?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_transactions WITH (security_barrier) AS
SELECT
    app_id, transaction_id, original_transaction_id, previous_original_transaction_id, web_order_line_item_id,
    app_transaction_id, bundle_id, environment, product_id, subscription_group_identifier, type, transaction_reason,
    in_app_ownership_type, quantity, price_milliunits, currency, storefront, storefront_id, purchase_date,
    original_purchase_date, expires_date, is_upgraded, offer_type, offer_identifier, offer_discount_type,
    offer_period, revocation_date, revocation_reason, revocation_type, revocation_percentage_milliunits,
    billing_plan_type, commitment_billing_period_number, commitment_total_billing_periods, commitment_expires_date,
    commitment_price_milliunits, advanced_commerce_request_reference_id, advanced_commerce_period,
    advanced_commerce_tax_code, advanced_commerce_tax_rate, advanced_commerce_tax_exclusive_price_milliunits,
    advanced_commerce_estimated_tax_milliunits, advanced_commerce_description, advanced_commerce_display_name,
    additional_transaction_reason, invitation_management, revoked_seat_quantity,
    signed_date, source, listed_transaction_id, first_seen_at, last_changed_at, last_run_id,
    app_account_token IS NOT NULL AS has_app_account_token,
    price_milliunits * 0.001 AS price_amount, commitment_price_milliunits * 0.001 AS commitment_price_amount,
    advanced_commerce_tax_exclusive_price_milliunits * 0.001 AS advanced_commerce_tax_exclusive_price_amount,
    advanced_commerce_estimated_tax_milliunits * 0.001 AS advanced_commerce_estimated_tax_amount
FROM transactions;
COMMENT ON VIEW masked_transactions IS 'In-app purchases for analysts: the rows of transactions without payload and appAccountToken.';
COMMENT ON COLUMN masked_transactions.has_app_account_token IS 'Whether the record has an appAccountToken. The token itself is personal data.';
