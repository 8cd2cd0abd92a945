COMMENT ON TABLE signed_payloads IS 'The raw archive: every payload that Apple signed, with the data needed to verify it again.';
COMMENT ON COLUMN signed_payloads.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN signed_payloads.kind IS 'The kind of record: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN signed_payloads.record_key IS
    'The record''s key: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.';
COMMENT ON COLUMN signed_payloads.signed_date IS 'When Apple signed the payload.';
COMMENT ON COLUMN signed_payloads.payload_sha256 IS
    'SHA-256 of the payload bytes. It distinguishes two payloads signed in the same millisecond.';
COMMENT ON COLUMN signed_payloads.header_id IS 'The JWS header of the payload; see signing_headers.';
COMMENT ON COLUMN signed_payloads.payload IS
    'The payload bytes as Apple signed them when StoreLedger first received this content. In a notification, a zero byte and four bytes of header_id replace each nested header.';
COMMENT ON COLUMN signed_payloads.signature IS 'Apple''s ES256 signature: 64 bytes, r and s.';
COMMENT ON COLUMN signed_payloads.is_refund IS
    'Whether refund history returned the payload. If so, a replay also loads the transaction into refunds.';
COMMENT ON COLUMN signed_payloads.first_seen_at IS 'When StoreLedger first stored this payload.';
