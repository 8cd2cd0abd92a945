COMMENT ON TABLE notifications IS 'App Store Server Notifications: one row per notification that Apple sent or tried to send.';
COMMENT ON COLUMN notifications.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN notifications.notification_uuid IS
    'Apple''s notificationUUID: identifies the notification. Repeated deliveries have the same UUID.';
COMMENT ON COLUMN notifications.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notifications.subtype IS 'Apple''s subtype: details of the type.';
COMMENT ON COLUMN notifications.version IS 'Apple''s version of the notification format.';
COMMENT ON COLUMN notifications.bundle_id IS 'Apple''s bundleId from data, summary, externalPurchaseToken or appData.';
COMMENT ON COLUMN notifications.app_apple_id IS 'Apple''s appAppleId from data, summary, externalPurchaseToken or appData.';
COMMENT ON COLUMN notifications.environment IS
    'Apple''s environment: Production or Sandbox. For an external purchase, StoreLedger derives it from externalPurchaseId.';
COMMENT ON COLUMN notifications.bundle_version IS 'Apple''s bundleVersion of the app.';
COMMENT ON COLUMN notifications.status IS
    'Apple''s status of the subscription: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.';
COMMENT ON COLUMN notifications.consumption_request_reason IS 'Apple''s consumptionRequestReason: why the customer requested a refund.';
COMMENT ON COLUMN notifications.transaction_id IS 'Apple''s transactionId in the notification''s signed transaction.';
COMMENT ON COLUMN notifications.original_transaction_id IS
    'Apple''s originalTransactionId in the notification''s signed transaction or renewal info.';
COMMENT ON COLUMN notifications.web_order_line_item_id IS 'Apple''s webOrderLineItemId in the notification''s signed transaction.';
COMMENT ON COLUMN notifications.app_transaction_id IS
    'Apple''s appTransactionId in the notification''s signed transaction, renewal info or app transaction.';
COMMENT ON COLUMN notifications.product_id IS 'Apple''s productId in the notification''s signed transaction or renewal info.';
COMMENT ON COLUMN notifications.subscription_group_identifier IS
    'Apple''s subscriptionGroupIdentifier in the notification''s signed transaction.';
COMMENT ON COLUMN notifications.app_account_token IS
    'Apple''s appAccountToken in the notification''s signed transaction or renewal info; personal data.';
COMMENT ON COLUMN notifications.summary_product_id IS 'Apple''s productId in summary: the product whose renewal dates were extended.';
COMMENT ON COLUMN notifications.summary_request_identifier IS
    'Apple''s requestIdentifier in summary: the developer''s UUID of the extension request.';
COMMENT ON COLUMN notifications.summary_storefront_country_codes IS
    'Apple''s storefrontCountryCodes in summary: the storefronts whose renewal dates were extended.';
COMMENT ON COLUMN notifications.summary_succeeded_count IS 'Apple''s succeededCount in summary: the number of subscriptions extended.';
COMMENT ON COLUMN notifications.summary_failed_count IS 'Apple''s failedCount in summary: the number of subscriptions not extended.';
COMMENT ON COLUMN notifications.external_purchase_id IS
    'Apple''s externalPurchaseId: identifies the token of a purchase outside the App Store.';
COMMENT ON COLUMN notifications.external_purchase_token_creation_date IS 'Apple''s tokenCreationDate: when the token was created.';
COMMENT ON COLUMN notifications.external_purchase_token_expiration_date IS 'Apple''s tokenExpirationDate: when the token expires.';
COMMENT ON COLUMN notifications.external_purchase_token_type IS
    'Apple''s tokenType of a token of custom links: ACQUISITION, SERVICES, IN_APP, LINK_OUT, or CORE_TECHNOLOGY for the Core Technology Commission.';
COMMENT ON COLUMN notifications.app_transaction_receipt_type IS 'Apple''s receiptType in the signed app transaction: its environment.';
COMMENT ON COLUMN notifications.app_transaction_application_version IS 'Apple''s applicationVersion in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_version_external_identifier IS
    'Apple''s versionExternalIdentifier in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_receipt_creation_date IS
    'Apple''s receiptCreationDate in the signed app transaction: when it was signed.';
COMMENT ON COLUMN notifications.app_transaction_original_purchase_date IS
    'Apple''s originalPurchaseDate in the signed app transaction: when the customer first downloaded the app.';
COMMENT ON COLUMN notifications.app_transaction_original_application_version IS
    'Apple''s originalApplicationVersion in the signed app transaction: the version that the customer first downloaded.';
COMMENT ON COLUMN notifications.app_transaction_original_platform IS
    'Apple''s originalPlatform in the signed app transaction: the platform of the first download.';
COMMENT ON COLUMN notifications.app_transaction_preorder_date IS 'Apple''s preorderDate in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_device_verification IS 'Apple''s deviceVerification in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_device_verification_nonce IS
    'Apple''s deviceVerificationNonce in the signed app transaction.';
COMMENT ON COLUMN notifications.signed_date IS 'When Apple signed this snapshot. StoreLedger keeps the newest snapshot.';
COMMENT ON COLUMN notifications.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN notifications.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN notifications.first_seen_at IS 'When StoreLedger first stored this record.';
COMMENT ON COLUMN notifications.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN notifications.last_run_id IS 'The run that last wrote the row.';
COMMENT ON COLUMN notifications.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';
COMMENT ON COLUMN notifications.late_run_id IS
    'The run that found the notification in the second reading of its day; see runs. The notification entered Apple''s history after the first reading of the day. NULL for all other notifications.';
COMMENT ON COLUMN notifications.app_transaction_store_type IS
    'Apple''s storeType of the app transaction: the store that the customer obtained the app from, such as CONSUMER.';
COMMENT ON COLUMN notifications.unclaim_seat_ids IS
    'Apple''s unclaimSeatIds of an UNCLAIM_SEATS notification: the IDs of the seat claims that Apple has ended. The customers who had these seats lose access. NULL for all other notifications.';
