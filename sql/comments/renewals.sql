COMMENT ON TABLE renewals IS 'The renewal info of each auto-renewable subscription: the newest verified snapshot by signed_date.';
COMMENT ON COLUMN renewals.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN renewals.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN renewals.app_transaction_id IS 'Apple''s appTransactionId: identifies the customer''s download of the app.';
COMMENT ON COLUMN renewals.environment IS 'Apple''s environment: Production or Sandbox.';
COMMENT ON COLUMN renewals.product_id IS 'Apple''s productId: the product of the current period.';
COMMENT ON COLUMN renewals.auto_renew_product_id IS 'Apple''s autoRenewProductId: the product that renews next.';
COMMENT ON COLUMN renewals.auto_renew_status IS 'Apple''s autoRenewStatus: 1 auto-renewal is on, 0 it is off.';
COMMENT ON COLUMN renewals.expiration_intent IS
    'Apple''s expirationIntent: why the subscription expired. 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 product not available, 5 other.';
COMMENT ON COLUMN renewals.is_in_billing_retry_period IS
    'Apple''s isInBillingRetryPeriod: whether Apple is still trying to charge the customer. NULL if Apple sends none, as for most active subscriptions: filter by IS NOT TRUE. current_subscriptions has the state.';
COMMENT ON COLUMN renewals.grace_period_expires_date IS
    'Apple''s gracePeriodExpiresDate: the end of the billing grace period. Access continues until then although billing fails.';
COMMENT ON COLUMN renewals.price_increase_status IS
    'Apple''s priceIncreaseStatus: 0 no response yet, 1 the customer consented, or was notified where no consent is required.';
COMMENT ON COLUMN renewals.recent_subscription_start_date IS
    'Apple''s recentSubscriptionStartDate: the earliest start of a series of periods without a gap of 60 days or more.';
COMMENT ON COLUMN renewals.renewal_date IS 'Apple''s renewalDate: when the subscription renews.';
COMMENT ON COLUMN renewals.renewal_price_milliunits IS 'Apple''s renewalPrice in thousandths of a unit of currency.';
COMMENT ON COLUMN renewals.currency IS 'Currency of every amount in the row: Apple''s ISO 4217 code.';
COMMENT ON COLUMN renewals.renewal_billing_plan_type IS 'Apple''s renewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals.offer_type IS 'Apple''s offerType of the next period: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN renewals.offer_identifier IS 'Apple''s offerIdentifier of the next period.';
COMMENT ON COLUMN renewals.offer_discount_type IS 'Apple''s offerDiscountType, such as FREE_TRIAL.';
COMMENT ON COLUMN renewals.offer_period IS 'Apple''s offerPeriod: the duration of the offer, as an ISO 8601 duration.';
COMMENT ON COLUMN renewals.eligible_win_back_offer_ids IS 'Apple''s eligibleWinBackOfferIds; the best offer comes first.';
COMMENT ON COLUMN renewals.app_account_token IS 'Apple''s appAccountToken: the developer''s own ID of the customer; personal data.';
COMMENT ON COLUMN renewals.commitment_auto_renew_product_id IS 'Apple''s commitmentAutoRenewProductId: the product of the next commitment.';
COMMENT ON COLUMN renewals.commitment_auto_renew_status IS 'Apple''s commitmentAutoRenewStatus: 1 the commitment renews, 0 it does not.';
COMMENT ON COLUMN renewals.commitment_renewal_billing_plan_type IS 'Apple''s commitmentRenewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals.commitment_renewal_date IS 'Apple''s commitmentRenewalDate: when the commitment renews.';
COMMENT ON COLUMN renewals.commitment_renewal_price_milliunits IS 'Apple''s commitmentRenewalPrice in thousandths of a unit of currency.';
COMMENT ON COLUMN renewals.advanced_commerce_request_reference_id IS
    'Apple''s requestReferenceId: the developer''s reference for the request.';
COMMENT ON COLUMN renewals.advanced_commerce_consistency_token IS
    'Apple''s consistencyToken: required by Apple for the next change of the subscription.';
COMMENT ON COLUMN renewals.advanced_commerce_period IS 'Apple''s period of the subscription as an ISO 8601 duration.';
COMMENT ON COLUMN renewals.advanced_commerce_tax_code IS 'Apple''s taxCode of the product.';
COMMENT ON COLUMN renewals.advanced_commerce_description IS 'Apple''s description in descriptors, which the customer does not see.';
COMMENT ON COLUMN renewals.advanced_commerce_display_name IS 'Apple''s displayName in descriptors, which the customer sees.';
COMMENT ON COLUMN renewals.signed_date IS
    'When Apple first signed this content of the renewal info. A later signature of the same content does not change it.';
COMMENT ON COLUMN renewals.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN renewals.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN renewals.first_seen_at IS 'When StoreLedger first stored this record.';
COMMENT ON COLUMN renewals.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN renewals.last_run_id IS 'The run that last wrote the row.';
COMMENT ON COLUMN renewals.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';
COMMENT ON COLUMN renewals.renewal_quantity IS 'Apple''s renewalQuantity: how many seats the next period has.';
