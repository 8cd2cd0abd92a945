COMMENT ON TABLE quoted_ids IS
    'Hashes of possible customer IDs in rejected records, in notifications without a transaction, and former account tokens. An erasure uses them to find those texts.';
COMMENT ON COLUMN quoted_ids.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN quoted_ids.owner_kind IS
    'rejected: a row of rejected_records; notification: a notification without a transaction ID; appTransaction: an app transaction; order: the transactions that Apple has returned for an order; transaction and renewalInfo: tokens that only other signatures in signed_payloads have.';
COMMENT ON COLUMN quoted_ids.owner_key IS 'record_id, notification_uuid, app_transaction_id, order_id, transaction_id or original_transaction_id.';
COMMENT ON COLUMN quoted_ids.id_hash IS 'The first eight bytes of the SHA-256 of the ID''s text, as a signed number.';
