COMMENT ON TABLE transactions IS 'In-app purchases: the newest verified snapshot of each transaction by signed_date.';
COMMENT ON COLUMN transactions.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN transactions.transaction_id IS 'Apple''s transactionId: identifies one purchase, renewal or restored purchase.';
COMMENT ON COLUMN transactions.original_transaction_id IS
    'Apple''s originalTransactionId: identifies a subscription. Its first purchase and all its renewals have the same ID.';
COMMENT ON COLUMN transactions.previous_original_transaction_id IS
    'Apple''s previousOriginalTransactionId: the original transaction ID that the subscription had before its migration to the Advanced Commerce API. NULL for all other transactions.';
COMMENT ON COLUMN transactions.web_order_line_item_id IS
    'Apple''s webOrderLineItemId: identifies a purchase event of a subscription, such as a renewal, across devices.';
COMMENT ON COLUMN transactions.app_transaction_id IS 'Apple''s appTransactionId: identifies the customer''s download of the app.';
COMMENT ON COLUMN transactions.bundle_id IS 'Apple''s bundleId of the app.';
COMMENT ON COLUMN transactions.environment IS 'Apple''s environment: Production or Sandbox.';
COMMENT ON COLUMN transactions.product_id IS 'Apple''s productId: the product in App Store Connect.';
COMMENT ON COLUMN transactions.subscription_group_identifier IS 'Apple''s subscriptionGroupIdentifier of an auto-renewable subscription.';
COMMENT ON COLUMN transactions.type IS 'Apple''s type: the kind of product, such as Auto-Renewable Subscription.';
COMMENT ON COLUMN transactions.transaction_reason IS 'Apple''s transactionReason: PURCHASE or RENEWAL.';
COMMENT ON COLUMN transactions.in_app_ownership_type IS
    'Apple''s inAppOwnershipType: PURCHASED, FAMILY_SHARED, or ASSIGNED by an organization or a group that paid.';
COMMENT ON COLUMN transactions.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group. price_milliunits is the price of all these consumables, but the average price of one seat.';
COMMENT ON COLUMN transactions.price_milliunits IS
    'Apple''s price in thousandths of a unit of currency: of the whole quantity for consumables, and the average price of one seat for a subscription with several seats; seat_purchases has the price of all seats.';
COMMENT ON COLUMN transactions.currency IS 'Currency of every amount in the row: Apple''s ISO 4217 code.';
COMMENT ON COLUMN transactions.storefront IS 'Apple''s storefront: the country or region, as a three-letter ISO 3166-1 code.';
COMMENT ON COLUMN transactions.storefront_id IS 'Apple''s storefrontId: Apple''s own number for the storefront.';
COMMENT ON COLUMN transactions.app_account_token IS 'Apple''s appAccountToken: the developer''s own ID of the customer; personal data.';
COMMENT ON COLUMN transactions.purchase_date IS
    'Apple''s purchaseDate: when the customer was charged, or when a free trial or another free purchase began.';
COMMENT ON COLUMN transactions.original_purchase_date IS 'Apple''s originalPurchaseDate: the purchase date of the original transaction.';
COMMENT ON COLUMN transactions.expires_date IS 'Apple''s expiresDate: when the subscription expires or renews.';
COMMENT ON COLUMN transactions.is_upgraded IS
    'Apple''s isUpgraded: true if the customer upgraded to another subscription of the group. Apple sends it only if it is true, so it is true or NULL, never false: filter by IS NOT TRUE.';
COMMENT ON COLUMN transactions.offer_type IS 'Apple''s offerType: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN transactions.offer_identifier IS 'Apple''s offerIdentifier: the ID of the offer code or promotional offer.';
COMMENT ON COLUMN transactions.offer_discount_type IS
    'Apple''s offerDiscountType: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT, or ONE_TIME for an offer code of a product that is no subscription.';
COMMENT ON COLUMN transactions.offer_period IS 'Apple''s offerPeriod: the duration of the offer, as an ISO 8601 duration.';
COMMENT ON COLUMN transactions.revocation_date IS
    'Apple''s revocationDate: when the purchase was refunded, or revoked from Family Sharing.';
COMMENT ON COLUMN transactions.revocation_reason IS 'Apple''s revocationReason: 1 an issue with the app, 0 another reason.';
COMMENT ON COLUMN transactions.revocation_type IS
    'Apple''s revocationType: REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE, or ASSIGNMENT_REVOKE when an administrator took the assignment back.';
COMMENT ON COLUMN transactions.revocation_percentage_milliunits IS
    'Apple''s revocationPercentage: the refunded share of the price in thousandths of a percent.';
COMMENT ON COLUMN transactions.billing_plan_type IS 'Apple''s billingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN transactions.commitment_billing_period_number IS
    'Apple''s billingPeriodNumber: the number of this billing period in the commitment.';
COMMENT ON COLUMN transactions.commitment_total_billing_periods IS
    'Apple''s totalBillingPeriods: the number of billing periods in the commitment.';
COMMENT ON COLUMN transactions.commitment_expires_date IS 'Apple''s commitmentExpiresDate: when the commitment ends.';
COMMENT ON COLUMN transactions.commitment_price_milliunits IS
    'Apple''s commitmentPrice: the price of the whole commitment in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.advanced_commerce_request_reference_id IS
    'Apple''s requestReferenceId: the developer''s reference for the request.';
COMMENT ON COLUMN transactions.advanced_commerce_period IS 'Apple''s period of the subscription as an ISO 8601 duration.';
COMMENT ON COLUMN transactions.advanced_commerce_tax_code IS 'Apple''s taxCode of the product.';
COMMENT ON COLUMN transactions.advanced_commerce_tax_rate IS 'Apple''s taxRate as a decimal number in text.';
COMMENT ON COLUMN transactions.advanced_commerce_tax_exclusive_price_milliunits IS
    'Apple''s taxExclusivePrice in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.advanced_commerce_estimated_tax_milliunits IS 'Apple''s estimatedTax in thousandths of a unit of currency.';
COMMENT ON COLUMN transactions.advanced_commerce_description IS 'Apple''s description in descriptors, which the customer does not see.';
COMMENT ON COLUMN transactions.advanced_commerce_display_name IS 'Apple''s displayName in descriptors, which the customer sees.';
COMMENT ON COLUMN transactions.signed_date IS
    'When Apple first signed this content of the transaction. A later signature of the same content does not change it.';
COMMENT ON COLUMN transactions.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN transactions.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN transactions.source IS 'The stream that returned the newest snapshot, such as transactionHistory.';
COMMENT ON COLUMN transactions.listed_transaction_id IS
    'The ID in the user''s list whose request returned the transaction. NULL if the transaction came from a stream of the whole app.';
COMMENT ON COLUMN transactions.first_seen_at IS 'When StoreLedger first stored this record.';
COMMENT ON COLUMN transactions.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN transactions.last_run_id IS 'The run that last wrote the row.';
COMMENT ON COLUMN transactions.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';
COMMENT ON COLUMN transactions.additional_transaction_reason IS
    'Apple''s additionalTransactionReason: why several transactions represent one subscription period, such as SEAT_ADDITION; NULL for the only transaction of a period.';
COMMENT ON COLUMN transactions.invitation_management IS
    'Apple''s invitationManagement of a subscription bought for a group: APPLE or DEVELOPER hosts the invitations; NULL for any other purchase.';
COMMENT ON COLUMN transactions.revoked_seat_quantity IS
    'Apple''s revokedSeatQuantity: how many seats of the transaction were refunded while the others remain; only the purchaser''s transaction has it.';
