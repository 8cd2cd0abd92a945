-- When did Apple last sign a record whose content has not changed since it was stored?
--
-- Apple signs each answer when it is requested. A record that is requested again has another signing date and other bytes,
-- even if nothing else changed. Such a record leaves its row, its indexes and the archive as they are; only the newest
-- signature is kept here, one small row for each content. A later snapshot with other content has to be newer than this.
-- A row is updated in place (HOT) each time, so half of every page stays free for it.
CREATE TABLE latest_signatures (
    app_id               integer     NOT NULL,
    kind                 text        NOT NULL,
    record_key           text        NOT NULL,
    first_payload_sha256 bytea       NOT NULL,
    signed_date          timestamptz NOT NULL,
    payload_sha256       bytea       NOT NULL,
    header_id            integer,
    signature            bytea,
    payload              bytea,
    PRIMARY KEY (app_id, kind, record_key, first_payload_sha256)
) WITH (fillfactor = 50);
ALTER TABLE latest_signatures ALTER COLUMN payload SET STATISTICS 0, ALTER COLUMN signature SET STATISTICS 0,
    ALTER COLUMN payload_sha256 SET STATISTICS 0, ALTER COLUMN first_payload_sha256 SET STATISTICS 0;

COMMENT ON TABLE latest_signatures IS 'The newest signature of each record that Apple signed again with the same content.';
COMMENT ON COLUMN latest_signatures.app_id IS 'The app, in apps.';
COMMENT ON COLUMN latest_signatures.kind IS 'As in signed_payloads: transaction, renewalInfo or notification.';
COMMENT ON COLUMN latest_signatures.record_key IS 'As in signed_payloads: a transaction ID, an original transaction ID or a notification UUID.';
COMMENT ON COLUMN latest_signatures.first_payload_sha256 IS 'payload_sha256 of the stored payload with the same content, in signed_payloads and in the record''s row.';
COMMENT ON COLUMN latest_signatures.signed_date IS 'When Apple signed the content for the last time, as far as it was requested.';
COMMENT ON COLUMN latest_signatures.payload_sha256 IS 'SHA-256 of the payload bytes of that signature.';
COMMENT ON COLUMN latest_signatures.header_id IS 'The header of that signature, in signing_headers.';
COMMENT ON COLUMN latest_signatures.signature IS 'Apple''s ES256 signature: 64 bytes, r and s.';
COMMENT ON COLUMN latest_signatures.payload IS 'The signed bytes of a notification. NULL for other kinds: there they are the stored payload with the digits of signedDate replaced by signed_date in milliseconds.';

-- A transaction that a notification brought has no listed ID until a history returns it. To fill that in is no change of what
-- the row says of the transaction, so StoreLedger goes on knowing the hash of it.
DROP TRIGGER forget_content_hash ON transactions;
CREATE TRIGGER forget_content_hash BEFORE UPDATE ON transactions FOR EACH ROW
    WHEN (new.content_hash IS NOT DISTINCT FROM old.content_hash
          AND NOT (old.listed_transaction_id IS NULL AND new.listed_transaction_id IS NOT NULL)) EXECUTE FUNCTION forget_content_hash();
ALTER TABLE transactions ENABLE ALWAYS TRIGGER forget_content_hash;

COMMENT ON COLUMN transactions.signed_date IS
    'When Apple first signed this content of the transaction; a later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN refunds.signed_date IS
    'When Apple first signed this content of the transaction; a later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN renewals.signed_date IS
    'When Apple first signed this content of the renewal info; a later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN signed_payloads.payload IS
    'The payload bytes as Apple signed them when this content first came; in a notification a zero byte and four bytes of header_id stand for a nested header.';
COMMENT ON COLUMN transactions.content_hash IS
    'Eight bytes of a SHA-256 of what StoreLedger wrote into the row, but for the date of the signature; NULL once anything else has changed it.';
COMMENT ON COLUMN refunds.content_hash IS
    'Eight bytes of a SHA-256 of what StoreLedger wrote into the row, but for the date of the signature; NULL once anything else has changed it.';
COMMENT ON COLUMN renewals.content_hash IS
    'Eight bytes of a SHA-256 of what StoreLedger wrote into the row, but for the date of the signature; NULL once anything else has changed it.';
COMMENT ON COLUMN notifications.content_hash IS
    'Eight bytes of a SHA-256 of what StoreLedger wrote into the row, but for the date of the signature; NULL once anything else has changed it.';
