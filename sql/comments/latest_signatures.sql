COMMENT ON TABLE latest_signatures IS 'The newest signature of each record that Apple has signed again with the same content.';
COMMENT ON COLUMN latest_signatures.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN latest_signatures.kind IS 'The kind of record, as in signed_payloads: transaction, renewalInfo or notification.';
COMMENT ON COLUMN latest_signatures.record_key IS
    'The record''s key, as in signed_payloads: a transaction ID, an original transaction ID or a notification UUID.';
COMMENT ON COLUMN latest_signatures.first_payload_sha256 IS
    'payload_sha256 of the stored payload with the same content, in signed_payloads and in the record''s row.';
COMMENT ON COLUMN latest_signatures.signed_date IS 'When Apple last signed the content, as far as StoreLedger has requested it.';
COMMENT ON COLUMN latest_signatures.payload_sha256 IS 'SHA-256 of the payload bytes of that signature.';
COMMENT ON COLUMN latest_signatures.header_id IS 'The JWS header of that signature; see signing_headers.';
COMMENT ON COLUMN latest_signatures.signature IS 'Apple''s ES256 signature: 64 bytes, r and s.';
COMMENT ON COLUMN latest_signatures.payload IS
    'The signed bytes of a notification. NULL for other kinds: their signed bytes are the stored payload with signed_date, in milliseconds, as signedDate.';
