COMMENT ON TABLE refunds IS 'Results of Apple''s refund history: the newest verified snapshot of each refunded or revoked transaction.';
COMMENT ON COLUMN refunds.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN refunds.transaction_id IS 'Apple''s transactionId: identifies one purchase, renewal or restored purchase.';
COMMENT ON COLUMN refunds.original_transaction_id IS
    'Apple''s originalTransactionId: identifies a subscription. Its first purchase and all its renewals have the same ID.';
COMMENT ON COLUMN refunds.web_order_line_item_id IS
    'Apple''s webOrderLineItemId: identifies a purchase event of a subscription, such as a renewal, across devices.';
COMMENT ON COLUMN refunds.app_transaction_id IS 'Apple''s appTransactionId: identifies the customer''s download of the app.';
COMMENT ON COLUMN refunds.product_id IS 'Apple''s productId: the product in App Store Connect.';
COMMENT ON COLUMN refunds.subscription_group_identifier IS 'Apple''s subscriptionGroupIdentifier of an auto-renewable subscription.';
COMMENT ON COLUMN refunds.type IS 'Apple''s type: the kind of product, such as Auto-Renewable Subscription.';
COMMENT ON COLUMN refunds.in_app_ownership_type IS
    'Apple''s inAppOwnershipType: PURCHASED, FAMILY_SHARED, or ASSIGNED by an organization or a group that paid.';
COMMENT ON COLUMN refunds.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group. price_milliunits is the price of all these consumables, but the average price of one seat.';
COMMENT ON COLUMN refunds.price_milliunits IS
    'Apple''s price in thousandths of a unit of currency: of the whole quantity for consumables, and the average price of one seat for a subscription with several seats; seat_purchases has the price of all seats.';
COMMENT ON COLUMN refunds.currency IS 'Currency of every amount in the row: Apple''s ISO 4217 code.';
COMMENT ON COLUMN refunds.storefront IS 'Apple''s storefront: the country or region, as a three-letter ISO 3166-1 code.';
COMMENT ON COLUMN refunds.storefront_id IS 'Apple''s storefrontId: Apple''s own number for the storefront.';
COMMENT ON COLUMN refunds.app_account_token IS 'Apple''s appAccountToken: the developer''s own ID of the customer; personal data.';
COMMENT ON COLUMN refunds.purchase_date IS
    'Apple''s purchaseDate: when the customer was charged, or when a free trial or another free purchase began.';
COMMENT ON COLUMN refunds.original_purchase_date IS 'Apple''s originalPurchaseDate: the purchase date of the original transaction.';
COMMENT ON COLUMN refunds.revocation_date IS 'Apple''s revocationDate: when the purchase was refunded, or revoked from Family Sharing.';
COMMENT ON COLUMN refunds.revocation_reason IS 'Apple''s revocationReason: 1 an issue with the app, 0 another reason.';
COMMENT ON COLUMN refunds.revocation_type IS
    'Apple''s revocationType: REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE, or ASSIGNMENT_REVOKE when an administrator took the assignment back.';
COMMENT ON COLUMN refunds.revocation_percentage_milliunits IS
    'Apple''s revocationPercentage: the refunded share of the price in thousandths of a percent.';
COMMENT ON COLUMN refunds.signed_date IS
    'When Apple first signed this content of the transaction. A later signature of the same content does not change it.';
COMMENT ON COLUMN refunds.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN refunds.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN refunds.first_seen_at IS 'When StoreLedger first stored this record.';
COMMENT ON COLUMN refunds.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN refunds.last_run_id IS 'The run that last wrote the row.';
COMMENT ON COLUMN refunds.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';
