-- How recent is the renewal info of each subscription?
--
-- Views that depend on the age of renewal info read this view, so that the age is computed in one place.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW renewals_signed AS
SELECT
    r.app_id, r.original_transaction_id, r.auto_renew_product_id, r.auto_renew_status, r.expiration_intent,
    r.is_in_billing_retry_period, r.grace_period_expires_date, r.price_increase_status, r.commitment_auto_renew_status,
    coalesce(l.signed_date, r.signed_date) AS last_signed_date
FROM renewals r
LEFT JOIN latest_signatures l ON l.app_id = r.app_id AND l.kind = 'renewalInfo' AND l.record_key = r.original_transaction_id
                             AND l.first_payload_sha256 = r.payload_sha256;
COMMENT ON VIEW renewals_signed IS
    'Renewal info and the newest date on which Apple signed it. For use by other views.';
COMMENT ON COLUMN renewals_signed.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN renewals_signed.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN renewals_signed.auto_renew_product_id IS 'Apple''s autoRenewProductId: the product that renews next.';
COMMENT ON COLUMN renewals_signed.auto_renew_status IS 'Apple''s autoRenewStatus: 1 auto-renewal is on, 0 it is off.';
COMMENT ON COLUMN renewals_signed.expiration_intent IS 'Apple''s expirationIntent: why the subscription expired.';
COMMENT ON COLUMN renewals_signed.is_in_billing_retry_period IS 'Apple''s isInBillingRetryPeriod.';
COMMENT ON COLUMN renewals_signed.grace_period_expires_date IS 'Apple''s gracePeriodExpiresDate.';
COMMENT ON COLUMN renewals_signed.price_increase_status IS 'Apple''s priceIncreaseStatus.';
COMMENT ON COLUMN renewals_signed.commitment_auto_renew_status IS 'Apple''s autoRenewStatus of a commitment: whether a new commitment follows this one.';
COMMENT ON COLUMN renewals_signed.last_signed_date IS 'When Apple last signed this content.';
