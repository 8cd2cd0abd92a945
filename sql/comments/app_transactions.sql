COMMENT ON TABLE app_transactions IS
    'The download or purchase of the app itself, by customer: the newest verified app transaction by signed_date.';
COMMENT ON COLUMN app_transactions.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN app_transactions.app_transaction_id IS
    'Apple''s appTransactionId: the customer''s Apple Account for this app, the same in each of the customer''s transactions.';
COMMENT ON COLUMN app_transactions.bundle_id IS 'The app''s bundle ID.';
COMMENT ON COLUMN app_transactions.app_apple_id IS 'The app''s Apple ID in the App Store; NULL in the sandbox.';
COMMENT ON COLUMN app_transactions.receipt_type IS 'The environment that signed the app transaction: Production or Sandbox.';
COMMENT ON COLUMN app_transactions.application_version IS 'The version of the app that the app transaction was created for.';
COMMENT ON COLUMN app_transactions.version_external_identifier IS 'Apple''s number of that version of the app.';
COMMENT ON COLUMN app_transactions.receipt_creation_date IS 'When Apple signed the app transaction: the receiptCreationDate.';
COMMENT ON COLUMN app_transactions.original_purchase_date IS 'When the customer first bought or downloaded the app.';
COMMENT ON COLUMN app_transactions.original_application_version IS
    'The version that the customer first bought or downloaded: CFBundleShortVersionString on macOS, CFBundleVersion elsewhere.';
COMMENT ON COLUMN app_transactions.original_platform IS
    'The platform on which the customer first got the app: iOS, macOS, tvOS or visionOS.';
COMMENT ON COLUMN app_transactions.preorder_date IS 'When the customer ordered the app before its release; NULL if it was no pre-order.';
COMMENT ON COLUMN app_transactions.device_verification IS
    'Apple''s device verification value: with the nonce it ties an app transaction to one device.';
COMMENT ON COLUMN app_transactions.device_verification_nonce IS 'The nonce of deviceVerification.';
COMMENT ON COLUMN app_transactions.store_type IS 'Apple''s storeType, of API 1.22 and later.';
COMMENT ON COLUMN app_transactions.signed_date IS
    'When Apple first signed this content of the app transaction. A later signature of the same content does not change it.';
COMMENT ON COLUMN app_transactions.payload_sha256 IS 'SHA-256 of the verified payload bytes, which identifies this snapshot.';
COMMENT ON COLUMN app_transactions.payload IS 'The whole verified payload, with every field that has no column.';
COMMENT ON COLUMN app_transactions.first_seen_at IS 'When StoreLedger first stored this record.';
COMMENT ON COLUMN app_transactions.last_changed_at IS 'When a newer snapshot last replaced the row.';
COMMENT ON COLUMN app_transactions.last_run_id IS 'The run that last wrote the row.';
COMMENT ON COLUMN app_transactions.content_hash IS
    'Eight bytes of a SHA-256 of what StoreLedger wrote into the row, except the date of the signature; NULL once anything else has changed it.';
