-- Which subscriptions will renew, and at what price, without personal data?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_renewals WITH (security_barrier) AS
SELECT
    app_id, original_transaction_id, app_transaction_id, environment, product_id, auto_renew_product_id,
    auto_renew_status, expiration_intent, is_in_billing_retry_period, grace_period_expires_date,
    price_increase_status, recent_subscription_start_date, renewal_date, renewal_price_milliunits, currency,
    renewal_billing_plan_type, offer_type, offer_identifier, offer_discount_type, offer_period,
    eligible_win_back_offer_ids, commitment_auto_renew_product_id, commitment_auto_renew_status,
    commitment_renewal_billing_plan_type, commitment_renewal_date, commitment_renewal_price_milliunits,
    advanced_commerce_request_reference_id, advanced_commerce_period, advanced_commerce_tax_code,
    advanced_commerce_description, advanced_commerce_display_name, renewal_quantity, signed_date, first_seen_at,
    last_changed_at, last_run_id, app_account_token IS NOT NULL AS has_app_account_token,
    renewal_price_milliunits * 0.001 AS renewal_price_amount, commitment_renewal_price_milliunits * 0.001 AS commitment_renewal_price_amount
FROM renewals;
COMMENT ON VIEW masked_renewals IS 'Renewal info for analysts: the rows of renewals without payload and appAccountToken. Members of a family have renewal info with a price too, although they pay nothing; renewals_due leaves them out.';
COMMENT ON COLUMN masked_renewals.has_app_account_token IS 'Whether the record has an appAccountToken. The token itself is personal data.';
