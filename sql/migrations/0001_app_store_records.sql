-- Which purchases, refunds, renewals and notifications has Apple signed, and what could not be loaded?
--
-- Runs with search_path set to the job's schema, so no name here has one.
-- Names are Apple's in snake_case. Enumerations are open sets: no CHECK refuses a value Apple adds tomorrow.
-- app_id leads every key, so that one database holds many apps and can be distributed by it.

CREATE TABLE apps (
    app_id integer GENERATED ALWAYS AS IDENTITY,
    bundle_id text NOT NULL,
    environment text NOT NULL,
    app_apple_id bigint,
    PRIMARY KEY (app_id),
    UNIQUE (bundle_id, environment)
);
COMMENT ON TABLE apps IS 'The apps in this ledger, once for each environment.';
COMMENT ON COLUMN apps.app_id IS
    'Our number for the app in one environment.';
COMMENT ON COLUMN apps.bundle_id IS
    'Apple''s bundleId of the app.';
COMMENT ON COLUMN apps.environment IS
    'Apple''s environment: Production or Sandbox.';
COMMENT ON COLUMN apps.app_apple_id IS
    'Apple''s appAppleId: the app''s number in the App Store; NULL in the sandbox when the job names none.';

CREATE TABLE transactions (
    app_id integer NOT NULL REFERENCES apps,
    transaction_id text NOT NULL,
    original_transaction_id text,
    previous_original_transaction_id text,
    web_order_line_item_id text,
    app_transaction_id text,
    bundle_id text,
    environment text,
    product_id text,
    subscription_group_identifier text,
    type text,
    transaction_reason text,
    in_app_ownership_type text,
    quantity integer,
    price_milliunits bigint,
    currency text,
    storefront text,
    storefront_id text,
    app_account_token uuid,
    purchase_date timestamptz,
    original_purchase_date timestamptz,
    expires_date timestamptz,
    is_upgraded boolean,
    offer_type integer,
    offer_identifier text,
    offer_discount_type text,
    offer_period text,
    revocation_date timestamptz,
    revocation_reason integer,
    revocation_type text,
    revocation_percentage_milliunits integer,
    billing_plan_type text,
    commitment_billing_period_number integer,
    commitment_total_billing_periods integer,
    commitment_expires_date timestamptz,
    commitment_price_milliunits bigint,
    advanced_commerce_request_reference_id text,
    advanced_commerce_period text,
    advanced_commerce_tax_code text,
    advanced_commerce_tax_rate text,
    advanced_commerce_tax_exclusive_price_milliunits bigint,
    advanced_commerce_estimated_tax_milliunits bigint,
    advanced_commerce_description text,
    advanced_commerce_display_name text,
    signed_date timestamptz NOT NULL,
    payload_sha256 bytea NOT NULL,
    payload jsonb NOT NULL,
    source text,
    listed_transaction_id text,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz,
    last_run_id bigint,
    PRIMARY KEY (app_id, transaction_id)
);
CREATE INDEX transactions_original_transaction_id ON transactions (app_id, original_transaction_id);
CREATE INDEX transactions_purchase_date ON transactions (app_id, purchase_date);
CREATE INDEX transactions_product_id ON transactions (app_id, product_id);
CREATE INDEX transactions_app_account_token ON transactions (app_id, app_account_token);
COMMENT ON TABLE transactions IS 'In-app purchases: the newest verified snapshot of each transaction by signed_date.';
COMMENT ON COLUMN transactions.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN transactions.transaction_id IS
    'Apple''s transactionId: names one purchase, renewal or restored purchase.';
COMMENT ON COLUMN transactions.original_transaction_id IS
    'Apple''s originalTransactionId: the same for a subscription''s first purchase and all its renewals.';
COMMENT ON COLUMN transactions.previous_original_transaction_id IS
    'Apple''s previousOriginalTransactionId: what the original transaction ID was before a migration.';
COMMENT ON COLUMN transactions.web_order_line_item_id IS
    'Apple''s webOrderLineItemId: names a subscription''s renewal across devices.';
COMMENT ON COLUMN transactions.app_transaction_id IS
    'Apple''s appTransactionId: names the customer''s download of the app.';
COMMENT ON COLUMN transactions.bundle_id IS
    'Apple''s bundleId of the app.';
COMMENT ON COLUMN transactions.environment IS
    'Apple''s environment: Production or Sandbox.';
COMMENT ON COLUMN transactions.product_id IS
    'Apple''s productId: the product as set up in App Store Connect.';
COMMENT ON COLUMN transactions.subscription_group_identifier IS
    'Apple''s subscriptionGroupIdentifier of an auto-renewable subscription.';
COMMENT ON COLUMN transactions.type IS
    'Apple''s type of product, such as Auto-Renewable Subscription.';
COMMENT ON COLUMN transactions.transaction_reason IS
    'Apple''s transactionReason: PURCHASE or RENEWAL.';
COMMENT ON COLUMN transactions.in_app_ownership_type IS
    'Apple''s inAppOwnershipType: PURCHASED or FAMILY_SHARED.';
COMMENT ON COLUMN transactions.quantity IS
    'Apple''s quantity of consumables bought.';
COMMENT ON COLUMN transactions.price_milliunits IS
    'Apple''s price in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.currency IS
    'Apple''s currency of every amount in the row, by its ISO 4217 code.';
COMMENT ON COLUMN transactions.storefront IS
    'Apple''s storefront: the country or region by its three-letter ISO 3166-1 code.';
COMMENT ON COLUMN transactions.storefront_id IS
    'Apple''s storefrontId: Apple''s own number for the storefront.';
COMMENT ON COLUMN transactions.app_account_token IS
    'Apple''s appAccountToken: the developer''s own key for the customer; personal data.';
COMMENT ON COLUMN transactions.purchase_date IS
    'Apple''s purchaseDate: when the customer was charged.';
COMMENT ON COLUMN transactions.original_purchase_date IS
    'Apple''s originalPurchaseDate: when the original transaction was bought.';
COMMENT ON COLUMN transactions.expires_date IS
    'Apple''s expiresDate: when the subscription expires or renews.';
COMMENT ON COLUMN transactions.is_upgraded IS
    'Apple''s isUpgraded: whether the customer moved on to another subscription of the group.';
COMMENT ON COLUMN transactions.offer_type IS
    'Apple''s offerType: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN transactions.offer_identifier IS
    'Apple''s offerIdentifier: the offer code or the promotional offer.';
COMMENT ON COLUMN transactions.offer_discount_type IS
    'Apple''s offerDiscountType, such as FREE_TRIAL.';
COMMENT ON COLUMN transactions.offer_period IS
    'Apple''s offerPeriod: how long the offer lasts, as an ISO 8601 duration.';
COMMENT ON COLUMN transactions.revocation_date IS
    'Apple''s revocationDate: when the purchase was refunded or revoked from Family Sharing.';
COMMENT ON COLUMN transactions.revocation_reason IS
    'Apple''s revocationReason: 1 an issue with the app, 0 another reason.';
COMMENT ON COLUMN transactions.revocation_type IS
    'Apple''s revocationType: REFUND_FULL, REFUND_PRORATED or FAMILY_REVOKE.';
COMMENT ON COLUMN transactions.revocation_percentage_milliunits IS
    'Apple''s revocationPercentage: the refunded share in thousandths of a percent.';
COMMENT ON COLUMN transactions.billing_plan_type IS
    'Apple''s billingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN transactions.commitment_billing_period_number IS
    'Apple''s billingPeriodNumber: which billing period of the commitment this is.';
COMMENT ON COLUMN transactions.commitment_total_billing_periods IS
    'Apple''s totalBillingPeriods: how many billing periods the commitment has.';
COMMENT ON COLUMN transactions.commitment_expires_date IS
    'Apple''s commitmentExpiresDate: when the commitment ends.';
COMMENT ON COLUMN transactions.commitment_price_milliunits IS
    'Apple''s commitmentPrice: the price of the whole commitment in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.advanced_commerce_request_reference_id IS
    'Apple''s requestReferenceId: the developer''s reference for the request.';
COMMENT ON COLUMN transactions.advanced_commerce_period IS
    'Apple''s period of the subscription as an ISO 8601 duration.';
COMMENT ON COLUMN transactions.advanced_commerce_tax_code IS
    'Apple''s taxCode of the product.';
COMMENT ON COLUMN transactions.advanced_commerce_tax_rate IS
    'Apple''s taxRate as a decimal number in text.';
COMMENT ON COLUMN transactions.advanced_commerce_tax_exclusive_price_milliunits IS
    'Apple''s taxExclusivePrice in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.advanced_commerce_estimated_tax_milliunits IS
    'Apple''s estimatedTax in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.advanced_commerce_description IS
    'Apple''s description in descriptors, which the customer does not see.';
COMMENT ON COLUMN transactions.advanced_commerce_display_name IS
    'Apple''s displayName in descriptors, which the customer sees.';
COMMENT ON COLUMN transactions.signed_date IS
    'When Apple signed this snapshot; of several the newest is kept.';
COMMENT ON COLUMN transactions.payload_sha256 IS
    'SHA-256 of the verified payload bytes, which names this snapshot.';
COMMENT ON COLUMN transactions.payload IS
    'The whole verified payload, with every field that has no column.';
COMMENT ON COLUMN transactions.source IS
    'The stream the newest snapshot came from, such as transactionHistory.';
COMMENT ON COLUMN transactions.listed_transaction_id IS
    'The ID of the user''s list under which the transaction was seen; NULL when it came with the whole app.';
COMMENT ON COLUMN transactions.first_seen_at IS
    'When StoreLedger first stored this record.';
COMMENT ON COLUMN transactions.last_changed_at IS
    'When a newer snapshot last replaced the row.';
COMMENT ON COLUMN transactions.last_run_id IS
    'The run that last wrote the row.';

CREATE TABLE refunds (
    app_id integer NOT NULL REFERENCES apps,
    transaction_id text NOT NULL,
    original_transaction_id text,
    web_order_line_item_id text,
    app_transaction_id text,
    product_id text,
    subscription_group_identifier text,
    type text,
    in_app_ownership_type text,
    quantity integer,
    price_milliunits bigint,
    currency text,
    storefront text,
    storefront_id text,
    app_account_token uuid,
    purchase_date timestamptz,
    original_purchase_date timestamptz,
    revocation_date timestamptz,
    revocation_reason integer,
    revocation_type text,
    revocation_percentage_milliunits integer,
    signed_date timestamptz NOT NULL,
    payload_sha256 bytea NOT NULL,
    payload jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz,
    last_run_id bigint,
    PRIMARY KEY (app_id, transaction_id)
);
CREATE INDEX refunds_original_transaction_id ON refunds (app_id, original_transaction_id);
CREATE INDEX refunds_revocation_date ON refunds (app_id, revocation_date);
COMMENT ON TABLE refunds IS 'What Apple''s refund history returned: the newest verified snapshot of each refunded or revoked transaction.';
COMMENT ON COLUMN refunds.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN refunds.transaction_id IS
    'Apple''s transactionId: names one purchase, renewal or restored purchase.';
COMMENT ON COLUMN refunds.original_transaction_id IS
    'Apple''s originalTransactionId: the same for a subscription''s first purchase and all its renewals.';
COMMENT ON COLUMN refunds.web_order_line_item_id IS
    'Apple''s webOrderLineItemId: names a subscription''s renewal across devices.';
COMMENT ON COLUMN refunds.app_transaction_id IS
    'Apple''s appTransactionId: names the customer''s download of the app.';
COMMENT ON COLUMN refunds.product_id IS
    'Apple''s productId: the product as set up in App Store Connect.';
COMMENT ON COLUMN refunds.subscription_group_identifier IS
    'Apple''s subscriptionGroupIdentifier of an auto-renewable subscription.';
COMMENT ON COLUMN refunds.type IS
    'Apple''s type of product, such as Auto-Renewable Subscription.';
COMMENT ON COLUMN refunds.in_app_ownership_type IS
    'Apple''s inAppOwnershipType: PURCHASED or FAMILY_SHARED.';
COMMENT ON COLUMN refunds.quantity IS
    'Apple''s quantity of consumables bought.';
COMMENT ON COLUMN refunds.price_milliunits IS
    'Apple''s price in thousandths of a unit of currency.';
COMMENT ON COLUMN refunds.currency IS
    'Apple''s currency of every amount in the row, by its ISO 4217 code.';
COMMENT ON COLUMN refunds.storefront IS
    'Apple''s storefront: the country or region by its three-letter ISO 3166-1 code.';
COMMENT ON COLUMN refunds.storefront_id IS
    'Apple''s storefrontId: Apple''s own number for the storefront.';
COMMENT ON COLUMN refunds.app_account_token IS
    'Apple''s appAccountToken: the developer''s own key for the customer; personal data.';
COMMENT ON COLUMN refunds.purchase_date IS
    'Apple''s purchaseDate: when the customer was charged.';
COMMENT ON COLUMN refunds.original_purchase_date IS
    'Apple''s originalPurchaseDate: when the original transaction was bought.';
COMMENT ON COLUMN refunds.revocation_date IS
    'Apple''s revocationDate: when the purchase was refunded or revoked from Family Sharing.';
COMMENT ON COLUMN refunds.revocation_reason IS
    'Apple''s revocationReason: 1 an issue with the app, 0 another reason.';
COMMENT ON COLUMN refunds.revocation_type IS
    'Apple''s revocationType: REFUND_FULL, REFUND_PRORATED or FAMILY_REVOKE.';
COMMENT ON COLUMN refunds.revocation_percentage_milliunits IS
    'Apple''s revocationPercentage: the refunded share in thousandths of a percent.';
COMMENT ON COLUMN refunds.signed_date IS
    'When Apple signed this snapshot; of several the newest is kept.';
COMMENT ON COLUMN refunds.payload_sha256 IS
    'SHA-256 of the verified payload bytes, which names this snapshot.';
COMMENT ON COLUMN refunds.payload IS
    'The whole verified payload, with every field that has no column.';
COMMENT ON COLUMN refunds.first_seen_at IS
    'When StoreLedger first stored this record.';
COMMENT ON COLUMN refunds.last_changed_at IS
    'When a newer snapshot last replaced the row.';
COMMENT ON COLUMN refunds.last_run_id IS
    'The run that last wrote the row.';

CREATE TABLE renewals (
    app_id integer NOT NULL REFERENCES apps,
    original_transaction_id text NOT NULL,
    app_transaction_id text,
    environment text,
    product_id text,
    auto_renew_product_id text,
    auto_renew_status integer,
    expiration_intent integer,
    is_in_billing_retry_period boolean,
    grace_period_expires_date timestamptz,
    price_increase_status integer,
    recent_subscription_start_date timestamptz,
    renewal_date timestamptz,
    renewal_price_milliunits bigint,
    currency text,
    renewal_billing_plan_type text,
    offer_type integer,
    offer_identifier text,
    offer_discount_type text,
    offer_period text,
    eligible_win_back_offer_ids text[],
    app_account_token uuid,
    commitment_auto_renew_product_id text,
    commitment_auto_renew_status integer,
    commitment_renewal_billing_plan_type text,
    commitment_renewal_date timestamptz,
    commitment_renewal_price_milliunits bigint,
    advanced_commerce_request_reference_id text,
    advanced_commerce_consistency_token text,
    advanced_commerce_period text,
    advanced_commerce_tax_code text,
    advanced_commerce_description text,
    advanced_commerce_display_name text,
    signed_date timestamptz NOT NULL,
    payload_sha256 bytea NOT NULL,
    payload jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz,
    last_run_id bigint,
    PRIMARY KEY (app_id, original_transaction_id)
);
CREATE INDEX renewals_renewal_date ON renewals (app_id, renewal_date);
CREATE INDEX renewals_auto_renew_product_id ON renewals (app_id, auto_renew_product_id);
COMMENT ON TABLE renewals IS 'How each auto-renewable subscription goes on: the newest verified renewal info by signed_date.';
COMMENT ON COLUMN renewals.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN renewals.original_transaction_id IS
    'Apple''s originalTransactionId: names the subscription.';
COMMENT ON COLUMN renewals.app_transaction_id IS
    'Apple''s appTransactionId: names the customer''s download of the app.';
COMMENT ON COLUMN renewals.environment IS
    'Apple''s environment: Production or Sandbox.';
COMMENT ON COLUMN renewals.product_id IS
    'Apple''s productId of the current period.';
COMMENT ON COLUMN renewals.auto_renew_product_id IS
    'Apple''s autoRenewProductId: the product that renews next.';
COMMENT ON COLUMN renewals.auto_renew_status IS
    'Apple''s autoRenewStatus: 1 renewal is on, 0 it is off.';
COMMENT ON COLUMN renewals.expiration_intent IS
    'Apple''s expirationIntent: why it expired, 1 cancelled, 2 billing error, 3 no consent, 4 no product, 5 other.';
COMMENT ON COLUMN renewals.is_in_billing_retry_period IS
    'Apple''s isInBillingRetryPeriod: whether Apple is still trying to charge the customer.';
COMMENT ON COLUMN renewals.grace_period_expires_date IS
    'Apple''s gracePeriodExpiresDate: until when access continues while billing fails.';
COMMENT ON COLUMN renewals.price_increase_status IS
    'Apple''s priceIncreaseStatus: 0 no response yet, 1 consented or notified.';
COMMENT ON COLUMN renewals.recent_subscription_start_date IS
    'Apple''s recentSubscriptionStartDate: the earliest start without a gap of 60 days or more.';
COMMENT ON COLUMN renewals.renewal_date IS
    'Apple''s renewalDate: when the subscription renews.';
COMMENT ON COLUMN renewals.renewal_price_milliunits IS
    'Apple''s renewalPrice in thousandths of a unit of currency.';
COMMENT ON COLUMN renewals.currency IS
    'Apple''s currency of every amount in the row, by its ISO 4217 code.';
COMMENT ON COLUMN renewals.renewal_billing_plan_type IS
    'Apple''s renewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals.offer_type IS
    'Apple''s offerType of the next period: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN renewals.offer_identifier IS
    'Apple''s offerIdentifier of the next period.';
COMMENT ON COLUMN renewals.offer_discount_type IS
    'Apple''s offerDiscountType, such as FREE_TRIAL.';
COMMENT ON COLUMN renewals.offer_period IS
    'Apple''s offerPeriod: how long the offer lasts, as an ISO 8601 duration.';
COMMENT ON COLUMN renewals.eligible_win_back_offer_ids IS
    'Apple''s eligibleWinBackOfferIds, best offer first.';
COMMENT ON COLUMN renewals.app_account_token IS
    'Apple''s appAccountToken: the developer''s own key for the customer; personal data.';
COMMENT ON COLUMN renewals.commitment_auto_renew_product_id IS
    'Apple''s commitmentAutoRenewProductId: the product of the next commitment.';
COMMENT ON COLUMN renewals.commitment_auto_renew_status IS
    'Apple''s commitmentAutoRenewStatus: 1 the commitment renews, 0 it does not.';
COMMENT ON COLUMN renewals.commitment_renewal_billing_plan_type IS
    'Apple''s commitmentRenewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals.commitment_renewal_date IS
    'Apple''s commitmentRenewalDate: when the commitment renews.';
COMMENT ON COLUMN renewals.commitment_renewal_price_milliunits IS
    'Apple''s commitmentRenewalPrice in thousandths of a unit of currency.';
COMMENT ON COLUMN renewals.advanced_commerce_request_reference_id IS
    'Apple''s requestReferenceId: the developer''s reference for the request.';
COMMENT ON COLUMN renewals.advanced_commerce_consistency_token IS
    'Apple''s consistencyToken for the next change of the subscription.';
COMMENT ON COLUMN renewals.advanced_commerce_period IS
    'Apple''s period of the subscription as an ISO 8601 duration.';
COMMENT ON COLUMN renewals.advanced_commerce_tax_code IS
    'Apple''s taxCode of the product.';
COMMENT ON COLUMN renewals.advanced_commerce_description IS
    'Apple''s description in descriptors, which the customer does not see.';
COMMENT ON COLUMN renewals.advanced_commerce_display_name IS
    'Apple''s displayName in descriptors, which the customer sees.';
COMMENT ON COLUMN renewals.signed_date IS
    'When Apple signed this snapshot; of several the newest is kept.';
COMMENT ON COLUMN renewals.payload_sha256 IS
    'SHA-256 of the verified payload bytes, which names this snapshot.';
COMMENT ON COLUMN renewals.payload IS
    'The whole verified payload, with every field that has no column.';
COMMENT ON COLUMN renewals.first_seen_at IS
    'When StoreLedger first stored this record.';
COMMENT ON COLUMN renewals.last_changed_at IS
    'When a newer snapshot last replaced the row.';
COMMENT ON COLUMN renewals.last_run_id IS
    'The run that last wrote the row.';

CREATE TABLE notifications (
    app_id integer NOT NULL REFERENCES apps,
    notification_uuid text NOT NULL,
    notification_type text,
    subtype text,
    version text,
    bundle_id text,
    app_apple_id bigint,
    environment text,
    bundle_version text,
    status integer,
    consumption_request_reason text,
    transaction_id text,
    original_transaction_id text,
    web_order_line_item_id text,
    app_transaction_id text,
    product_id text,
    subscription_group_identifier text,
    app_account_token uuid,
    summary_product_id text,
    summary_request_identifier text,
    summary_storefront_country_codes text[],
    summary_succeeded_count bigint,
    summary_failed_count bigint,
    external_purchase_id text,
    external_purchase_token_creation_date timestamptz,
    external_purchase_token_expiration_date timestamptz,
    external_purchase_token_type text,
    app_transaction_receipt_type text,
    app_transaction_application_version text,
    app_transaction_version_external_identifier bigint,
    app_transaction_receipt_creation_date timestamptz,
    app_transaction_original_purchase_date timestamptz,
    app_transaction_original_application_version text,
    app_transaction_original_platform text,
    app_transaction_preorder_date timestamptz,
    app_transaction_device_verification text,
    app_transaction_device_verification_nonce uuid,
    signed_date timestamptz NOT NULL,
    payload_sha256 bytea NOT NULL,
    payload jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz,
    last_run_id bigint,
    PRIMARY KEY (app_id, notification_uuid)
);
CREATE INDEX notifications_signed_date ON notifications (app_id, signed_date);
CREATE INDEX notifications_original_transaction_id ON notifications (app_id, original_transaction_id);
CREATE INDEX notifications_transaction_id ON notifications (app_id, transaction_id);
CREATE INDEX notifications_notification_type ON notifications (app_id, notification_type);
COMMENT ON TABLE notifications IS 'App Store Server Notifications: one row for each notification Apple sent or tried to send.';
COMMENT ON COLUMN notifications.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN notifications.notification_uuid IS
    'Apple''s notificationUUID: names the notification; a repeated delivery has the same.';
COMMENT ON COLUMN notifications.notification_type IS
    'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notifications.subtype IS
    'Apple''s subtype, which narrows the type.';
COMMENT ON COLUMN notifications.version IS
    'Apple''s version of the notification format.';
COMMENT ON COLUMN notifications.bundle_id IS
    'Apple''s bundleId from data, summary, externalPurchaseToken or appData.';
COMMENT ON COLUMN notifications.app_apple_id IS
    'Apple''s appAppleId from data, summary, externalPurchaseToken or appData.';
COMMENT ON COLUMN notifications.environment IS
    'Apple''s environment: Production or Sandbox; of an external purchase told by its ID.';
COMMENT ON COLUMN notifications.bundle_version IS
    'Apple''s bundleVersion of the app that the notification is about.';
COMMENT ON COLUMN notifications.status IS
    'Apple''s status of the subscription: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.';
COMMENT ON COLUMN notifications.consumption_request_reason IS
    'Apple''s consumptionRequestReason: why the customer asks for a refund.';
COMMENT ON COLUMN notifications.transaction_id IS
    'Apple''s transactionId in the notification''s verified transaction.';
COMMENT ON COLUMN notifications.original_transaction_id IS
    'Apple''s originalTransactionId in the notification''s verified transaction or renewal info.';
COMMENT ON COLUMN notifications.web_order_line_item_id IS
    'Apple''s webOrderLineItemId in the notification''s verified transaction.';
COMMENT ON COLUMN notifications.app_transaction_id IS
    'Apple''s appTransactionId in the notification''s verified transaction, renewal info or app transaction.';
COMMENT ON COLUMN notifications.product_id IS
    'Apple''s productId in the notification''s verified transaction or renewal info.';
COMMENT ON COLUMN notifications.subscription_group_identifier IS
    'Apple''s subscriptionGroupIdentifier in the notification''s verified transaction.';
COMMENT ON COLUMN notifications.app_account_token IS
    'Apple''s appAccountToken in the verified transaction or renewal info; personal data.';
COMMENT ON COLUMN notifications.summary_product_id IS
    'Apple''s productId in summary: the product whose renewal dates were extended.';
COMMENT ON COLUMN notifications.summary_request_identifier IS
    'Apple''s requestIdentifier in summary: the developer''s UUID of the extension request.';
COMMENT ON COLUMN notifications.summary_storefront_country_codes IS
    'Apple''s storefrontCountryCodes in summary: where renewal dates were extended.';
COMMENT ON COLUMN notifications.summary_succeeded_count IS
    'Apple''s succeededCount in summary: subscriptions extended.';
COMMENT ON COLUMN notifications.summary_failed_count IS
    'Apple''s failedCount in summary: subscriptions not extended.';
COMMENT ON COLUMN notifications.external_purchase_id IS
    'Apple''s externalPurchaseId: names the token of a purchase outside the App Store.';
COMMENT ON COLUMN notifications.external_purchase_token_creation_date IS
    'Apple''s tokenCreationDate: when the token was made.';
COMMENT ON COLUMN notifications.external_purchase_token_expiration_date IS
    'Apple''s tokenExpirationDate: when the token ends.';
COMMENT ON COLUMN notifications.external_purchase_token_type IS
    'Apple''s tokenType of the token.';
COMMENT ON COLUMN notifications.app_transaction_receipt_type IS
    'Apple''s receiptType in the verified app transaction: its environment.';
COMMENT ON COLUMN notifications.app_transaction_application_version IS
    'Apple''s applicationVersion in the verified app transaction.';
COMMENT ON COLUMN notifications.app_transaction_version_external_identifier IS
    'Apple''s versionExternalIdentifier in the verified app transaction.';
COMMENT ON COLUMN notifications.app_transaction_receipt_creation_date IS
    'Apple''s receiptCreationDate in the verified app transaction: when it was signed.';
COMMENT ON COLUMN notifications.app_transaction_original_purchase_date IS
    'Apple''s originalPurchaseDate in the verified app transaction: when the app was first downloaded.';
COMMENT ON COLUMN notifications.app_transaction_original_application_version IS
    'Apple''s originalApplicationVersion in the verified app transaction: the version first downloaded.';
COMMENT ON COLUMN notifications.app_transaction_original_platform IS
    'Apple''s originalPlatform in the verified app transaction: where the app was first downloaded.';
COMMENT ON COLUMN notifications.app_transaction_preorder_date IS
    'Apple''s preorderDate in the verified app transaction.';
COMMENT ON COLUMN notifications.app_transaction_device_verification IS
    'Apple''s deviceVerification in the verified app transaction.';
COMMENT ON COLUMN notifications.app_transaction_device_verification_nonce IS
    'Apple''s deviceVerificationNonce in the verified app transaction.';
COMMENT ON COLUMN notifications.signed_date IS
    'When Apple signed this snapshot; of several the newest is kept.';
COMMENT ON COLUMN notifications.payload_sha256 IS
    'SHA-256 of the verified payload bytes, which names this snapshot.';
COMMENT ON COLUMN notifications.payload IS
    'The whole verified payload, with every field that has no column.';
COMMENT ON COLUMN notifications.first_seen_at IS
    'When StoreLedger first stored this record.';
COMMENT ON COLUMN notifications.last_changed_at IS
    'When a newer snapshot last replaced the row.';
COMMENT ON COLUMN notifications.last_run_id IS
    'The run that last wrote the row.';

CREATE TABLE notification_send_attempts (
    app_id integer NOT NULL REFERENCES apps,
    notification_uuid text NOT NULL,
    attempt_date timestamptz NOT NULL,
    send_attempt_result text,
    PRIMARY KEY (app_id, notification_uuid, attempt_date)
);
COMMENT ON TABLE notification_send_attempts IS 'Apple''s attempts to deliver a notification to the app''s own server; Apple does not sign them.';
COMMENT ON COLUMN notification_send_attempts.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN notification_send_attempts.notification_uuid IS
    'Apple''s notificationUUID of the notification.';
COMMENT ON COLUMN notification_send_attempts.attempt_date IS
    'Apple''s attemptDate: when Apple tried to deliver.';
COMMENT ON COLUMN notification_send_attempts.send_attempt_result IS
    'Apple''s sendAttemptResult: SUCCESS, or why the delivery failed.';

CREATE TABLE advanced_commerce_items (
    app_id integer NOT NULL REFERENCES apps,
    owner_kind text NOT NULL,
    owner_key text NOT NULL,
    position integer NOT NULL,
    sku text,
    description text,
    display_name text,
    price_milliunits bigint,
    currency text,
    revocation_date timestamptz,
    offer_period text,
    offer_period_count integer,
    offer_price_milliunits bigint,
    offer_reason text,
    price_increase_price_milliunits bigint,
    price_increase_status text,
    price_increase_dependent_skus text[],
    PRIMARY KEY (app_id, owner_kind, owner_key, position)
);
CREATE INDEX advanced_commerce_items_sku ON advanced_commerce_items (app_id, sku);
COMMENT ON TABLE advanced_commerce_items IS 'Line items inside advancedCommerceInfo of transactions and renewals.';
COMMENT ON COLUMN advanced_commerce_items.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN advanced_commerce_items.owner_kind IS
    'Which table the item belongs to: transaction or renewal.';
COMMENT ON COLUMN advanced_commerce_items.owner_key IS
    'The owner''s transaction_id, or original_transaction_id of a renewal.';
COMMENT ON COLUMN advanced_commerce_items.position IS
    'Place of the item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_items.sku IS
    'Apple''s SKU of the item.';
COMMENT ON COLUMN advanced_commerce_items.description IS
    'Apple''s description of the item, which the customer does not see.';
COMMENT ON COLUMN advanced_commerce_items.display_name IS
    'Apple''s displayName of the item, which the customer sees.';
COMMENT ON COLUMN advanced_commerce_items.price_milliunits IS
    'Apple''s price of the item in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_items.currency IS
    'Apple''s currency of every amount in the row, taken from the owner, by its ISO 4217 code.';
COMMENT ON COLUMN advanced_commerce_items.revocation_date IS
    'Apple''s revocationDate of the item.';
COMMENT ON COLUMN advanced_commerce_items.offer_period IS
    'Apple''s period of the item''s offer as an ISO 8601 duration.';
COMMENT ON COLUMN advanced_commerce_items.offer_period_count IS
    'Apple''s periodCount: how many periods the offer lasts.';
COMMENT ON COLUMN advanced_commerce_items.offer_price_milliunits IS
    'Apple''s price of the offer in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_items.offer_reason IS
    'Apple''s reason of the offer: ACQUISITION, WIN_BACK or RETENTION.';
COMMENT ON COLUMN advanced_commerce_items.price_increase_price_milliunits IS
    'Apple''s price after the increase in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_items.price_increase_status IS
    'Apple''s status of the price increase: SCHEDULED, PENDING or ACCEPTED.';
COMMENT ON COLUMN advanced_commerce_items.price_increase_dependent_skus IS
    'Apple''s dependentSKUs: items whose price increase depends on this one.';

CREATE TABLE advanced_commerce_refunds (
    app_id integer NOT NULL REFERENCES apps,
    owner_kind text NOT NULL,
    owner_key text NOT NULL,
    item_position integer NOT NULL,
    position integer NOT NULL,
    refund_date timestamptz,
    refund_amount_milliunits bigint,
    currency text,
    refund_type text,
    refund_reason text,
    PRIMARY KEY (app_id, owner_kind, owner_key, item_position, position)
);
CREATE INDEX advanced_commerce_refunds_refund_date ON advanced_commerce_refunds (app_id, refund_date);
COMMENT ON TABLE advanced_commerce_refunds IS 'Refunds of line items inside advancedCommerceInfo of transactions.';
COMMENT ON COLUMN advanced_commerce_refunds.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN advanced_commerce_refunds.owner_kind IS
    'Which table the item belongs to: transaction or renewal.';
COMMENT ON COLUMN advanced_commerce_refunds.owner_key IS
    'The owner''s transaction_id, or original_transaction_id of a renewal.';
COMMENT ON COLUMN advanced_commerce_refunds.item_position IS
    'Place of the refunded item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_refunds.position IS
    'Place of the refund in the item''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_date IS
    'Apple''s refundDate: when the item was refunded.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_amount_milliunits IS
    'Apple''s refundAmount in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_refunds.currency IS
    'Apple''s currency of the amount, taken from the owner, by its ISO 4217 code.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_type IS
    'Apple''s refundType: FULL, PRORATED or CUSTOM.';
COMMENT ON COLUMN advanced_commerce_refunds.refund_reason IS
    'Apple''s refundReason, such as UNINTENDED_PURCHASE.';

CREATE TABLE signing_headers (
    app_id integer NOT NULL REFERENCES apps,
    header_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    header_sha256 bytea NOT NULL,
    header text NOT NULL,
    PRIMARY KEY (app_id, header_id),
    UNIQUE (app_id, header_sha256)
);
COMMENT ON TABLE signing_headers IS 'The JWS headers of the raw archive, each once: thousands of payloads share one certificate chain.';
COMMENT ON COLUMN signing_headers.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN signing_headers.header_id IS
    'Our number for the header.';
COMMENT ON COLUMN signing_headers.header_sha256 IS
    'SHA-256 of the header text.';
COMMENT ON COLUMN signing_headers.header IS
    'The first segment of the JWS as it came, in base64url: the algorithm and the certificate chain.';

CREATE TABLE signed_payloads (
    app_id integer NOT NULL REFERENCES apps,
    kind text NOT NULL,
    record_key text NOT NULL,
    signed_date timestamptz NOT NULL,
    payload_sha256 bytea NOT NULL,
    header_id integer NOT NULL,
    payload bytea NOT NULL,
    signature bytea NOT NULL,
    is_refund boolean NOT NULL DEFAULT false,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, kind, record_key, signed_date, payload_sha256),
    FOREIGN KEY (app_id, header_id) REFERENCES signing_headers
);
COMMENT ON TABLE signed_payloads IS 'The raw archive: every payload Apple signed, with what is needed to verify it again.';
COMMENT ON COLUMN signed_payloads.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN signed_payloads.kind IS
    'What was signed: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN signed_payloads.record_key IS
    'The record''s own key: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.';
COMMENT ON COLUMN signed_payloads.signed_date IS
    'When Apple signed the payload.';
COMMENT ON COLUMN signed_payloads.payload_sha256 IS
    'SHA-256 of the payload bytes; keeps apart two payloads signed in the same millisecond.';
COMMENT ON COLUMN signed_payloads.header_id IS
    'The header the payload was signed with, in signing_headers.';
COMMENT ON COLUMN signed_payloads.payload IS
    'The payload bytes as Apple signed them; in a notification a zero byte and four bytes of header_id stand for a nested header.';
COMMENT ON COLUMN signed_payloads.signature IS
    'Apple''s ES256 signature: 64 bytes, r and s.';
COMMENT ON COLUMN signed_payloads.is_refund IS
    'Whether refund history returned it; a replay puts such a transaction into refunds as well.';
COMMENT ON COLUMN signed_payloads.first_seen_at IS
    'When StoreLedger first stored this payload.';

CREATE TABLE schema_drift (
    app_id integer NOT NULL REFERENCES apps,
    kind text NOT NULL,
    path text NOT NULL,
    sample text,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    seen_count bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (app_id, kind, path)
);
COMMENT ON TABLE schema_drift IS 'Fields and enumeration values Apple sends that StoreLedger has no column or no name for.';
COMMENT ON COLUMN schema_drift.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN schema_drift.kind IS
    'What carried it: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN schema_drift.path IS
    'The unknown field, or field=value for an unknown value of a known field; dots go into objects, [] into arrays.';
COMMENT ON COLUMN schema_drift.sample IS
    'One value as JSON text, at most 200 characters; values that look like a UUID are masked.';
COMMENT ON COLUMN schema_drift.first_seen_at IS
    'When StoreLedger first met it.';
COMMENT ON COLUMN schema_drift.last_seen_at IS
    'When StoreLedger last met it.';
COMMENT ON COLUMN schema_drift.seen_count IS
    'How often it was met.';

CREATE TABLE field_issues (
    app_id integer NOT NULL REFERENCES apps,
    kind text NOT NULL,
    record_key text NOT NULL,
    path text NOT NULL,
    found text NOT NULL,
    signed_date timestamptz,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, kind, record_key, path)
);
COMMENT ON TABLE field_issues IS 'Known fields of an unexpected type or range; their column is NULL and the row is loaded.';
COMMENT ON COLUMN field_issues.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN field_issues.kind IS
    'What carried it: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN field_issues.record_key IS
    'The record''s own key: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.';
COMMENT ON COLUMN field_issues.path IS
    'The field; dots go into objects, [n] into arrays.';
COMMENT ON COLUMN field_issues.found IS
    'What was found and what would be right.';
COMMENT ON COLUMN field_issues.signed_date IS
    'When Apple signed the snapshot that had it.';
COMMENT ON COLUMN field_issues.first_seen_at IS
    'When StoreLedger first met it.';
COMMENT ON COLUMN field_issues.last_seen_at IS
    'When StoreLedger last met it.';

CREATE TABLE rejected_records (
    app_id integer NOT NULL REFERENCES apps,
    record_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    job text NOT NULL,
    stream text NOT NULL,
    item_key text NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    sha256 bytea NOT NULL,
    raw bytea NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    seen_count bigint NOT NULL DEFAULT 1,
    run_id bigint,
    resolved_at timestamptz,
    PRIMARY KEY (app_id, record_id),
    UNIQUE (app_id, job, stream, sha256, reason)
);
CREATE INDEX rejected_records_first_seen_at ON rejected_records (app_id, first_seen_at);
COMMENT ON TABLE rejected_records IS 'What could not be loaded, as it came, and why.';
COMMENT ON COLUMN rejected_records.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN rejected_records.record_id IS
    'Our number for the record.';
COMMENT ON COLUMN rejected_records.job IS
    'The job that met it.';
COMMENT ON COLUMN rejected_records.stream IS
    'The history it came from, such as transactionHistory.';
COMMENT ON COLUMN rejected_records.item_key IS
    'The ID or the window that was asked for.';
COMMENT ON COLUMN rejected_records.reason IS
    'Why, in one word of a closed list, such as signature or bundle.';
COMMENT ON COLUMN rejected_records.detail IS
    'What was found and what would be right.';
COMMENT ON COLUMN rejected_records.sha256 IS
    'SHA-256 of everything that came.';
COMMENT ON COLUMN rejected_records.raw IS
    'What came, at most the first 65,536 bytes of it.';
COMMENT ON COLUMN rejected_records.first_seen_at IS
    'When it was first met.';
COMMENT ON COLUMN rejected_records.last_seen_at IS
    'When it was last met.';
COMMENT ON COLUMN rejected_records.seen_count IS
    'How often it was met.';
COMMENT ON COLUMN rejected_records.run_id IS
    'The run that last met it.';
COMMENT ON COLUMN rejected_records.resolved_at IS
    'When a replay loaded it after all; NULL while it is rejected.';
